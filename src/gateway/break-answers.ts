/**
 * `holdfire mcp --chaos`: the gateway breaks answers on purpose, after the server has done its work, so that anybody
 * sees what a host does with a lost answer, with the guard and without it.
 *
 * `holdfire chaos` (`src/chaos`) is another feature: it runs an agent, breaks one reply to it, over HTTP or from an MCP
 * server, and tells what the agent sent again. For an MCP server it breaks the reply with this file, without a gateway.
 *
 * @module
 */

import { type Clock, sleep } from "../lang/clock.ts";
import { type Id, type Message, messageOf, parseLine } from "./pipe/message.ts";
import type { Writer } from "./pipe/writer.ts";

/** The answer is dropped, or comes late, or the gateway dies before it leaves; or the call itself comes twice. */
export type ChaosMode = "lose-reply" | "slow" | "die" | "twice";

export const CHAOS_MODES: readonly ChaosMode[] = ["lose-reply", "slow", "die", "twice"];

export interface ChaosOptions {
  readonly mode: ChaosMode;
  /** Which call is broken, from 1. @default every other one, as `random` has it */
  readonly nth?: number | undefined;
  /** Only calls of this tool. @default all */
  readonly tool?: string | undefined;
  /** How late a slow answer is, in milliseconds. */
  readonly slowMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly clock: Clock;
  /** Ends the process at once. */
  readonly die: () => void;
  readonly log: (line: string) => void;
}

export interface Chaos {
  /** How often a message of the host is handed on. */
  times(message: Message): number;
  /** The way back to the host, with what is lost on it. */
  around(host: Writer): Writer;
}

export function createChaos(options: ChaosOptions): Chaos {
  const { mode, nth, tool, slowMs, random, clock, die, log } = options;
  /** Calls whose answer is broken. */
  const broken = new Set<Id>();
  let calls = 0;

  /** Counts a call, and says by its number or by chance whether it is broken. */
  function drawBroken(message: Message): message is Extract<Message, { kind: "request" }> {
    if (message.kind !== "request" || message.method !== "tools/call") return false;
    if (tool !== undefined && message.params.name !== tool) return false;
    calls += 1;
    return nth === undefined ? random() < 0.5 : calls === nth;
  }

  return {
    times(message) {
      if (!drawBroken(message)) return 1;
      log(`chaos: ${mode} for call ${calls} (${String(message.params.name)})`);
      if (mode === "twice") return 2;
      broken.add(message.id);
      return 1;
    },
    around: (host) => ({
      ...host,
      async write(line) {
        const message = broken.size > 0 ? messageOf(parseLine(Buffer.from(line))) : undefined;
        const isHit = message?.kind === "answer" && broken.delete(message.id);
        if (isHit && mode === "lose-reply") return;
        if (isHit && mode === "die") {
          die();
          return;
        }
        if (isHit) await sleep(clock, slowMs);
        await host.write(line);
      },
    }),
  };
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
