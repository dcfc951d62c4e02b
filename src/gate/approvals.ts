/**
 * The inbox: which questions wait for a person, and the person's answer.
 *
 * @module
 */

import { type OperationView, view } from "../engine/admin/operations.ts";
import type { Engine } from "../engine/engine.ts";
import { askStore, listRecords } from "../engine/store-call.ts";
import { InvalidInputError } from "../errors.ts";
import type { Json } from "../key/json.ts";
import { questionOf } from "../ledger/moves/approval-question.ts";
import type { Refusal } from "../ledger/moves/moves.ts";
import type { Ask, Stored } from "../ledger/record.ts";
import { type Decision, fileAnswer } from "./decision.ts";
import { type WaitOptions, waitForAnswer } from "./wait-for-answer.ts";

/** A question that waits. */
export interface Approval {
  readonly operation: OperationView;
  /** Why a person is asked. */
  readonly why: Ask["why"];
  readonly digest: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly answered: boolean;
  /** Arguments, plan and side effects. `undefined`: wiped with the answer, or sealed with another key. */
  readonly shown: Json | undefined;
}

export interface Approvals {
  list(query?: { readonly cursor?: string; readonly limit?: number }): Promise<{
    readonly items: readonly Approval[];
    /** The ids of operations whose records are damaged: one of them may wait for approval. */
    readonly unreadable?: readonly string[] | undefined;
    readonly cursor?: string | undefined;
  }>;
  /** The open question about one operation; `undefined` if there is none. */
  get(id: string): Promise<Approval | undefined>;
  /** `digest` must be that of the question the person saw. */
  approve(id: string, by: Answerer): Promise<void>;
  deny(id: string, by: Answerer): Promise<void>;
  /**
   * Waits until the open question about the operation is answered, here or in another process, or has expired. After a yes,
   * make the call again: it then fires. An answer that was given before is returned at once.
   */
  wait(id: string, options?: WaitOptions): Promise<Decision>;
}

export interface Answerer {
  readonly digest: string;
  /** The person's name. */
  readonly by: string;
  readonly note?: string | undefined;
}

const DENIED = "was denied before, and a denial is final.";

const WHY_NOT: Partial<Record<Refusal, string>> = {
  absent: "there is no such operation.",
  not_open: "has no open question.",
  denied: DENIED,
  mismatch: "the question has changed; read it again.",
  expired: "the question has expired; make the call again.",
};

export function approvalsOf(engine: Engine): Approvals {
  const { ledger, tenant, codec } = engine;
  const answer = async (id: string, approve: boolean, { digest, by, note }: Answerer) => {
    const moved = await fileAnswer({ approve, by, note }, digest, { tenant, id }, engine);
    if (moved.tag === "moved") {
      const { state } = moved.stored?.record ?? {};
      if (!approve) return;
      if (state?.tag === "denied") throw new InvalidInputError(`operation ${id}`, DENIED);
      const ask = state?.tag === "held" ? questionOf(state, digest) : undefined;
      if (!ask || ask.answers.at(-1)?.counted) return;
      throw new InvalidInputError(
        `operation ${id}`,
        "was answered before; both answers are recorded.",
      );
    }
    const why = moved.tag === "refused" ? moved.why : "absent";
    throw new InvalidInputError(`operation ${id}`, WHY_NOT[why] ?? `cannot be answered (${why}).`);
  };
  const approval = (stored: Stored): Approval[] => {
    const { state } = stored.record;
    if (state.tag !== "held") return [];
    const { ask: question } = state;
    const decoded = question.shown && codec.decode(question.shown, stored.record);
    return [
      {
        operation: view(stored, codec),
        why: question.why,
        digest: question.digest,
        askedAt: question.askedAt,
        expiresAt: question.expiresAt,
        answered: question.answers.some(({ counted }) => counted),
        shown: decoded?.ok ? (decoded.value as Json) : undefined,
      },
    ];
  };
  return {
    async list(query = {}) {
      await askStore(engine, "open", ledger.open());
      const page = await listRecords(engine, { ...query, states: ["held"] });
      return { ...page, items: page.items.flatMap(approval) };
    },
    async get(id) {
      await askStore(engine, "open", ledger.open());
      const stored = await askStore(engine, "read", ledger.read({ tenant, id }));
      return stored && approval(stored)[0];
    },
    approve: (id, by) => answer(id, true, by),
    deny: (id, by) => answer(id, false, by),
    wait: (id, options = {}) => waitForAnswer(engine, id, options),
  };
}
