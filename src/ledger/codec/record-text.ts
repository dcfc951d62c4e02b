/**
 * A record as the text that durable stores write: JSON with short names, without empty fields, and
 * without what the store keeps in a column of its own (tenant and id).
 *
 * @module
 */

import type { AttemptNote, Evidence, OperationRecord, State } from "../record.ts";

/** Raised when the layout changes; older layouts stay readable. */
const LAYOUT = 1;

/** These names are on disk: new ones may be added, none may be changed. */
interface Packed {
  readonly v: number;
  readonly t: string;
  readonly s: string | undefined;
  readonly c: string;
  readonly f: string;
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
  readonly ah: string;
  readonly fi: Readonly<Record<string, string>> | undefined;
  readonly i: OperationRecord["intent"];
  readonly pc: OperationRecord["precondition"];
  readonly al: readonly string[] | undefined;
  readonly ru: readonly string[] | undefined;
  readonly at: readonly PackedAttempt[];
  readonly n: number | undefined;
  readonly ev: readonly Evidence[] | undefined;
  readonly an: OperationRecord["answers"];
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
    f: record.fingerprint,
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
    ah: record.argsHash,
    fi: isEmpty(record.fields) ? undefined : record.fields,
    i: record.intent,
    pc: record.precondition,
    al: record.aliases.length > 0 ? record.aliases : undefined,
    // The run that made it is in `r` already.
    ru: record.runs.length === 1 && record.runs[0] === record.run ? undefined : record.runs,
    at: attempts.map(packAttempt),
    n: record.fired === attempts.length ? undefined : record.fired,
    ev: record.evidence.length > 0 ? record.evidence : undefined,
    an: record.answers,
  };
  return JSON.stringify(packed);
}

/** Throws if the text is not a packed record; the store turns that into an error of its own. */
export function unpackRecord(text: string, tenant: string, id: string): OperationRecord {
  const packed = JSON.parse(text) as Packed;
  if (packed.v !== LAYOUT) throw new RangeError(`The layout ${String(packed.v)} is not known.`);
  const attempts = packed.at.map(unpackAttempt);
  return {
    tenant,
    id,
    tool: packed.t,
    service: packed.s ?? packed.t,
    scope: packed.c,
    fingerprint: packed.f,
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
    argsHash: packed.ah,
    fields: packed.fi ?? {},
    intent: packed.i,
    precondition: packed.pc,
    aliases: packed.al ?? [],
    runs: packed.ru ?? (packed.r === undefined ? [] : [packed.r]),
    attempts,
    fired: packed.n ?? attempts.length,
    evidence: packed.ev ?? [],
    answers: packed.an,
  };
}

function packAttempt({ n, epoch, generation, licence, at, ...rest }: AttemptNote): PackedAttempt {
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
