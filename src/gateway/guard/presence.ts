/**
 * Which gateways live. A new one takes over what a dead one of its thread has left, and leaves alone what belongs to
 * one that lives: two windows of one host may well make the same call, each for itself.
 *
 * A gateway keeps a ticket in the ledger and renews it. One whose ticket has run out is dead; one whose ticket is
 * still good may have died since, so it is waited for, until the ticket is renewed or runs out.
 *
 * @module
 */

import type { Engine } from "../../engine/engine.ts";
import { askStore } from "../../engine/store-call.ts";
import { sleep } from "../../lang/clock.ts";
import { createStop } from "../../lang/stop.ts";

export interface Presence {
  readonly id: string;
  /** Resolves once the ledger has it. */
  begin(): Promise<void>;
  /** Whether another gateway lives, for certain. */
  isAlive(gateway: string): Promise<boolean>;
  /** It counts as dead from now on. What it still has under way goes on. */
  end(): Promise<void>;
}

/** No lane of a user's: it has a control character. */
const rowOf = (gateway: string): string => `\u001egateway ${gateway}`;
const POLL_MS = 100;

export function presenceIn(engine: Engine, aliveMs: number): Presence {
  const { ledger, tenant, clock } = engine;
  const id = engine.newId();
  const stopped = createStop();
  let beginning: Promise<void> | undefined;

  const ask = <T>(asked: Promise<T>): Promise<T> => askStore(engine, "gateway", asked);
  const find = async (gateway: string) => {
    const found = await ask(ledger.readLane(tenant, rowOf(gateway)));
    return found && { ...found, until: found.lane.queue[0]?.until ?? 0 };
  };

  async function renew(): Promise<void> {
    const found = await find(id);
    // It has ended meanwhile: others may be told already that it is gone.
    if (stopped.signal.aborted) return;
    const until = ledger.clock.latest() + aliveMs;
    const lane = { queue: [{ id, until }] };
    await ask(ledger.changeLane(tenant, { name: rowOf(id), expect: found?.version ?? 0, lane }));
  }

  async function keep(): Promise<void> {
    while (!stopped.signal.aborted) {
      if ((await sleep(clock, aliveMs / 3, stopped.signal)) === "woken") return;
      // Others may take over meanwhile, and fire nothing that was fired.
      await renew().catch(() => {});
    }
  }

  return {
    id,
    begin() {
      beginning ??= ask(ledger.open())
        .then(renew)
        .then(
          () => void keep(),
          (error: unknown) => {
            beginning = undefined;
            throw error;
          },
        );
      return beginning;
    },
    async isAlive(gateway) {
      if (gateway === id) return true;
      const first = await find(gateway);
      if (!first) return false;
      for (;;) {
        const now = await find(gateway);
        if (!now) return false;
        if (now.until > first.until) return true;
        if (ledger.clock.earliest() > now.until) {
          const gone = { name: rowOf(gateway), expect: now.version, lane: undefined };
          await ask(ledger.changeLane(tenant, gone));
          return false;
        }
        await sleep(clock, POLL_MS);
      }
    },
    async end() {
      stopped.abort();
      await beginning?.catch(() => {});
      const found = await find(id);
      if (!found) return;
      await ask(
        ledger.changeLane(tenant, { name: rowOf(id), expect: found.version, lane: undefined }),
      );
    },
  };
}
