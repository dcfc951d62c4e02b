/**
 * A record as the text that durable stores write: JSON with short names, without empty fields, and
 * without what the store keeps in a column of its own (tenant and id).
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import type { AttemptNote, Evidence, OperationRecord, State } from "../record.ts";

/**
 * Raised when the layout changes. Layout 1, which left neither `f` nor `ah` out, is still read. Of a ledger of holdfire 0.1
 * nothing is read: its keys were made in another way (`docs/upgrading.md`).
 */
const LAYOUT = 2;

/** These names are on disk: new ones may be added, none may be changed. */
interface Packed {
  readonly v: number;
  readonly t: string;
  readonly s: string | undefined;
  readonly c: string;
  readonly f: string | undefined;
  readonly r: string | undefined;
  readonly a: string | undefined;
  readonly ve: string | undefined;
  readonly re: string | undefined;
  readonly p: string | undefined;
  readonly st: State;
  readonly sa: number;
  readonly ca: number;
  readonly e: number;
  readonly g: number | undefined;
  readonly ah: string | undefined;
  readonly fi: Readonly<Record<string, string>> | undefined;
  readonly i: OperationRecord["intent"];
  readonly pc: OperationRecord["precondition"];
  readonly al: readonly string[] | undefined;
  readonly ru: readonly string[] | undefined;
  readonly at: readonly PackedAttempt[];
  readonly n: number | undefined;
  readonly ev: readonly Evidence[] | undefined;
  readonly an: OperationRecord["answers"];
  readonly sp: string | undefined;
  readonly un: true | undefined;
  readonly ab: string | undefined;
  readonly ap: string | undefined;
}

type PackedAttempt = readonly [
  n: number,
  epoch: number,
  generation: number,
  licence: AttemptNote["licence"],
  at: number,
  rest?: Omit<AttemptNote, "n" | "epoch" | "generation" | "licence" | "at">,
];

export function packRecord(record: OperationRecord): string {
  const { attempts } = record;
  const packed: Packed = {
    v: LAYOUT,
    t: record.tool,
    s: record.service === record.tool ? undefined : record.service,
    c: record.scope,
    // Where nothing but the arguments makes the key, all three are one hash.
    f: record.fingerprint === record.id ? undefined : record.fingerprint,
    r: record.run,
    a: record.again,
    ve: record.version,
    re: record.resource,
    p: record.parent,
    st: record.state,
    sa: record.stateAt,
    ca: record.createdAt,
    e: record.epoch,
    g: record.generation || undefined,
    ah: record.argsHash === record.id ? undefined : record.argsHash,
    fi: isEmpty(record.fields) ? undefined : record.fields,
    i: record.intent,
    pc: record.precondition,
    al: record.aliases.length > 0 ? record.aliases : undefined,
    ru: isRunThatMadeIt(record) ? undefined : record.runs,
    at: attempts.map(packAttempt),
    n: record.fired === attempts.length ? undefined : record.fired,
    ev: record.evidence.length > 0 ? record.evidence : undefined,
    an: record.answers,
    sp: record.step,
    un: record.untold,
    ab: record.abandonedFor,
    ap: record.app,
  };
  return JSON.stringify(packed);
}

/** A record that cannot be read is an error of its own: a store that answers is not unavailable. */
export function unpackRecord(text: string, tenant: string, id: string): OperationRecord {
  try {
    return unpack(text, tenant, id);
  } catch (error) {
    throw new StoreUnavailableError("damaged_record", error);
  }
}

function unpack(text: string, tenant: string, id: string): OperationRecord {
  const packed = JSON.parse(text) as Packed;
  if (packed.v !== LAYOUT && packed.v !== 1)
    throw new RangeError(`The layout ${String(packed.v)} is not known.`);
  const attempts = packed.at.map(unpackAttempt);
  return {
    tenant,
    id,
    tool: packed.t,
    service: packed.s ?? packed.t,
    scope: packed.c,
    fingerprint: packed.f ?? id,
    run: packed.r,
    again: packed.a,
    version: packed.ve,
    resource: packed.re,
    parent: packed.p,
    state: packed.st,
    stateAt: packed.sa,
    createdAt: packed.ca,
    epoch: packed.e,
    generation: packed.g ?? 0,
    argsHash: packed.ah ?? id,
    fields: packed.fi ?? {},
    intent: packed.i,
    precondition: packed.pc,
    aliases: packed.al ?? [],
    runs: packed.ru ?? (packed.r === undefined ? [] : [packed.r]),
    attempts,
    fired: packed.n ?? attempts.length,
    evidence: packed.ev ?? [],
    answers: packed.an,
    step: packed.sp,
    untold: packed.un,
    abandonedFor: packed.ab,
    app: packed.ap,
  };
}

/** The run that made it is in `r` already. */
const isRunThatMadeIt = ({ run, runs }: OperationRecord): boolean =>
  run === undefined ? runs.length === 0 : runs.length === 1 && runs[0] === run;

function packAttempt(attempt: AttemptNote): PackedAttempt {
  const { n, epoch, generation, licence, at } = attempt;
  const rest = {
    ...attempt,
    // In the list already.
    n: undefined,
    epoch: undefined,
    generation: undefined,
    licence: undefined,
    at: undefined,
  };
  return isEmpty(rest)
    ? [n, epoch, generation, licence, at]
    : [n, epoch, generation, licence, at, rest];
}

const unpackAttempt = ([n, epoch, generation, licence, at, rest]: PackedAttempt): AttemptNote => ({
  n,
  epoch,
  generation,
  licence,
  at,
  ...rest,
});

function isEmpty(fields: Readonly<Record<string, unknown>>): boolean {
  for (const name in fields) if (fields[name] !== undefined) return false;
  return true;
}
