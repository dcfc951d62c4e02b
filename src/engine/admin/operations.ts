/**
 * Lists and reads operations; a person resolves them here.
 *
 * @module
 */

import type { Failure } from "../../classify/failure.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkNote, checkPerson } from "../../key/check-name.ts";
import type { Json } from "../../key/json.ts";
import { wireKey } from "../../key/mint.ts";
import { showScope } from "../../key/scope.ts";
import type { Codec } from "../../ledger/codec/codec.ts";
import { asksOf } from "../../ledger/moves/approval-question.ts";
import type { Refusal } from "../../ledger/moves/moves.ts";
import {
  type Answer,
  type AttemptNote,
  type Evidence,
  isOpen,
  type OperationRecord,
  type Rejection,
  type State,
  type StateTag,
  type Stored,
} from "../../ledger/record.ts";
import type { Effect } from "../../reasons.ts";
import type { Engine } from "../engine.ts";
import { readFailure } from "../outcome/failure.ts";
import { askStore, listRecords } from "../store-call.ts";

/** One attempt, with what it failed with. */
export type AttemptView = Omit<AttemptNote, "failure"> & {
  readonly failure?: Failure | undefined;
};

/** One operation, as people and tools see it. No results; of the arguments only what `intent` says. */
export interface OperationView {
  readonly id: string;
  readonly key: string;
  readonly tool: string;
  readonly scope: string;
  readonly status: StateTag;
  readonly reason?: string | undefined;
  readonly open: boolean;
  readonly attempts: readonly AttemptView[];
  readonly evidence: readonly Omit<Evidence, "payload">[];
  readonly aliases: readonly string[];
  /**
   * What was asked for, while the ledger keeps it: until the operation is settled. Lists leave it out. With
   * `payloads.encryption` it is there only for a holdfire that has the key.
   */
  readonly intent?: Json | undefined;
  /** There is an intent, and it cannot be decrypted here. */
  readonly sealed?: true | undefined;
  readonly resource?: string | undefined;
  /** The operation inside whose attempt it was made. */
  readonly parent?: string | undefined;
  /** How many attempts were noted in all: as many as were fired, unless a process died in between. `attempts` forgets the oldest. */
  readonly fired: number;
  /** How it came to be known that it is committed. */
  readonly via?: Extract<State, { tag: "committed" }>["via"] | undefined;
  readonly effect?: Effect | undefined;
  readonly effectId?: string | undefined;
  readonly rejection?: Rejection | undefined;
  /** What people answered, whether it counted or not. */
  readonly answers: readonly Answer[];
  /** Until when its owner is believed to be at it, on the ledger's clock. */
  readonly leaseUntil?: number | undefined;
  readonly createdAt: number;
  readonly at: number;
  readonly by?: string | undefined;
  readonly note?: string | undefined;
}

export interface OperationQuery {
  /** Only those that are not settled. @default false */
  readonly open?: boolean | undefined;
  readonly status?: readonly StateTag[] | undefined;
  readonly tool?: string | undefined;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The newest first. A cursor goes on only in the order it came from. @default false */
  readonly newestFirst?: boolean | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** A person's decision on an operation that cannot be read. */
export interface Resolution {
  readonly as: "committed" | "not_applied";
  /** The person's name. */
  readonly by: string;
  readonly note?: string | undefined;
  /** `at` of the view the person saw: their word is not taken for what came after. */
  readonly asOf?: number | undefined;
  /** Takes `not_applied` although an attempt may still send: the person knows that it does not. @default false */
  readonly anyway?: boolean | undefined;
}

export interface Operations {
  /** Lists in the order of creation, or in its reverse, a page at a time. */
  list(query?: OperationQuery): Promise<{
    readonly items: readonly OperationView[];
    /** The ids of operations on this page whose records are damaged; absent if there are none. */
    readonly unreadable?: readonly string[] | undefined;
    readonly cursor?: string | undefined;
  }>;
  get(id: string): Promise<OperationView | undefined>;
  /**
   * A person settles what cannot be read. Refused while another process owns it, and once it is settled; as
   * `not_applied` also while an attempt may still send.
   */
  resolve(id: string, as: Resolution): Promise<OperationView>;
}

const OPEN: readonly StateTag[] = ["held", "claimed", "unknown"];

const WHY_NOT: Partial<Record<Refusal, string>> = {
  absent: "there is no such operation.",
  settled: "is settled already.",
  busy: "is owned by another process; wait until its lease has expired.",
  changed: "has changed since you read it; read it again.",
  held: "was not sent yet; approve or deny it instead.",
  running: "may still be sent by an attempt that runs; wait, or say that it is not (`anyway`).",
  evidence: "can only be committed: the service has reported success.",
};

export function operationsOf(engine: Engine): Operations {
  const { ledger, tenant, codec } = engine;
  const ask = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    await askStore(engine, "open", ledger.open());
    return askStore(engine, step, work());
  };
  return {
    async list({ open, status, ...query } = {}) {
      const states = status ?? (open ? OPEN : undefined);
      const resource = query.resource?.normalize("NFC");
      await askStore(engine, "open", ledger.open());
      const page = await listRecords(engine, { ...query, resource, states });
      return { ...page, items: page.items.map((stored) => view(stored)) };
    },
    async get(id) {
      const stored = await ask("read", () => ledger.read({ tenant, id }));
      return stored && view(stored, codec);
    },
    async resolve(id, { as, by, note, asOf, anyway }) {
      if (as !== "committed" && as !== "not_applied") {
        throw new InvalidInputError("as", `must be "committed" or "not_applied".`);
      }
      checkPerson(by);
      checkNote(note);
      // Their word is for what is known when they give it. A store that is late with it may know more by then.
      const known = await ask("resolve", () => ledger.read({ tenant, id }));
      const at = ledger.clock.latest();
      const move = {
        move: "resolve",
        as,
        by,
        note,
        asOf: asOf ?? known?.record.stateAt,
        anyway,
        at,
      } as const;
      const moved = known && (await ask("resolve", () => ledger.move({ tenant, id }, move, known)));
      if (moved?.tag === "moved" && moved.stored) return view(moved.stored, codec);
      const why = moved?.tag === "refused" ? moved.why : "absent";
      throw new InvalidInputError(`operation ${id}`, WHY_NOT[why] ?? `cannot be settled (${why}).`);
    },
  };
}

/** With a codec, the intent and the text of errors are part of it. */
export function view({ record, leaseUntil }: Stored, codec?: Codec): OperationView {
  const { state } = record;
  const committed = state.tag === "committed" ? state : undefined;
  return {
    id: record.id,
    key: wireKey(record.id, record.generation),
    tool: record.tool,
    scope: showScope(record.scope),
    status: state.tag,
    reason: reasonIn(state),
    open: isOpen(state),
    attempts: record.attempts.map((attempt) => ({
      ...attempt,
      failure: readFailure(attempt, record, codec),
    })),
    evidence: record.evidence.map(({ payload: _, ...seen }) => seen),
    aliases: Object.freeze([...record.aliases]),
    ...(codec && intentOf(record, codec)),
    resource: record.resource,
    parent: record.parent,
    fired: record.fired,
    via: committed?.via,
    effect: committed?.effect,
    effectId: committed?.effectId,
    rejection: state.tag === "not_applied" && state.rejection ? { ...state.rejection } : undefined,
    answers: [...(record.answers ?? []), ...openAnswers(state)],
    leaseUntil,
    createdAt: record.createdAt,
    at: record.stateAt,
    by: "by" in state ? state.by : undefined,
    note: "note" in state ? state.note : undefined,
  };
}

/** Why it is not applied or unknown; of what is held, why a person is asked. */
function reasonIn(state: State): string | undefined {
  if (state.tag === "held") return state.ask.why;
  return "reason" in state ? state.reason : undefined;
}

function intentOf(record: OperationRecord, codec: Codec): Pick<OperationView, "intent" | "sealed"> {
  if (!record.intent) return {};
  const decoded = codec.decode(record.intent, record);
  return decoded.ok ? { intent: decoded.value as Json } : { sealed: true };
}

function openAnswers(state: State): readonly Answer[] {
  if (state.tag === "denied") return state.answers ?? [];
  return state.tag === "held" ? asksOf(state).flatMap(({ answers }) => answers) : [];
}
