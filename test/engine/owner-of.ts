/**
 * An owner of an operation on a real ledger, for tests of what it writes at the end: its attempts are noted there, and what
 * became of them is said by the test.
 *
 * @module
 */

import { committed } from "../../src/engine/define/reading.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Execution } from "../../src/engine/operation/operation.ts";
import {
  keepResult,
  learn,
  type Owned,
  relearn,
  takeOwnership,
} from "../../src/engine/steps/parts/ownership.ts";
import { instantOf } from "../../src/lang/clock.ts";
import type { Moved } from "../../src/ledger/ledger.ts";
import type { AttemptUpdate, OperationRecord, Stored } from "../../src/ledger/record.ts";
import { claimOf } from "../../src/testing/record-of.ts";
import { type Heard, listen } from "../observe/heard.ts";
import { engineOf, executionOf, operationOf, type TestEngine } from "./engine-of.ts";

const LEASE_MS = 30_000;

export interface Owner {
  readonly engine: TestEngine;
  readonly owned: Owned;
  readonly heard: Heard;
  /** Fires the attempt that the claim has noted, or notes another one; it ended like this. */
  fire(ended: Partial<AttemptUpdate>, result?: unknown): Promise<void>;
  /** A read has found that it is done. */
  find(result: unknown): void;
  /** The record as it is in the store. */
  record(): Promise<OperationRecord | undefined>;
  /** Another process owns the operation from here on, under the holder's name that is returned. */
  takeOver(): Promise<{ readonly epoch: number; readonly holder: string }>;
  /** Another process claims it at once: of use where there is no record. */
  claimNow(): Promise<unknown>;
  /** The store loses the record. */
  lose(): Promise<void>;
}

export interface OwnerOptions {
  readonly tool?: object;
  readonly engine?: Partial<Engine>;
  readonly execution?: Partial<Execution>;
  /** The first attempt was fired by an owner before this one, and this is known of it. */
  readonly before?: Partial<AttemptUpdate>;
}

export async function ownerOf(options: OwnerOptions = {}): Promise<Owner> {
  const engine = engineOf(options.engine);
  const { ledger, clock, failing } = engine;
  const operation = operationOf(engine, options.tool);
  const { ref, draft } = operation;
  let claims = 0;
  const claim = async () => {
    claims += 1;
    const holder = `owner-${claims}`;
    const move = claimOf({ draft, holder, leaseMs: LEASE_MS, at: clock.now() });
    return { holder, stored: written(await ledger.move(ref, move)) };
  };
  const claimNext = async () => {
    await clock.advance(LEASE_MS + 1);
    return claim();
  };
  await ledger.open();
  if (options.before) await claim();
  const { holder, stored } = await (options.before ? claimNext() : claim());
  const execution = executionOf(operation, options.execution);
  const owned = takeOwnership(execution, stored, holder, instantOf(clock), engine);
  learn(owned, { n: 1, ...options.before });
  const { epoch } = owned;

  return {
    engine,
    owned,
    heard: listen(engine.events),
    async fire(ended, result) {
      if (!owned.unfiredTime) {
        const note = { move: "note", licence: "keyed", epoch, holder, leaseMs: LEASE_MS } as const;
        const move = { ...note, updates: [], at: clock.now() };
        relearn(owned, written(await ledger.move(ref, move)));
      }
      owned.unfiredTime = undefined;
      owned.fires += 1;
      const n = owned.stored.record.fired;
      learn(owned, { n, endedAt: clock.now(), ...ended });
      if (result !== undefined) keepResult(owned, n, { value: result });
    },
    find(result) {
      const found = committed(result);
      const at = clock.now();
      owned.lastRead = { reading: "committed", beganAt: at, wall: at, found };
    },
    record: async () => (await ledger.read(ref))?.record,
    async takeOver() {
      const next = await claimNext();
      return { epoch: next.stored.record.epoch, holder: next.holder };
    },
    claimNow: claim,
    async lose() {
      const { version } = (await ledger.read(ref)) ?? {};
      await failing.swap({ ...ref, expect: version ?? 0, record: undefined, lease: "none" });
    },
  };
}

function written(moved: Moved): Stored {
  if (moved.tag !== "moved" || !moved.stored) throw new Error("The move was refused.");
  return moved.stored;
}
