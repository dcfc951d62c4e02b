/**
 * What a scenario plays on: a faulty service, the one tool of the contract, a ledger, and processes that
 * call the tool through the adapter.
 *
 * @module
 */

import assert from "node:assert/strict";
import { createHoldfire, type Holdfire } from "../../create.ts";
import { absent, committed, duplicated } from "../../engine/define/reading.ts";
import { typed } from "../../engine/define/schema.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { memoryStore } from "../../stores/memory.ts";
import type { EffectBody } from "../faulty-service/logs.ts";
import { type FaultyService, startFaultyService } from "../faulty-service.ts";
import type {
  AdapterCall,
  AdapterContractOptions,
  Hand,
  PayArguments,
  PayDefinition,
} from "./drive.ts";

export type Envelope = Reply<EffectBody>;

export interface Process {
  readonly hf: Holdfire;
  /** One call through the adapter: what the model reads. */
  call(call?: Partial<AdapterCall>): Promise<Envelope>;
  /** The adapter's own `hand`, around the same tool. */
  hand(): Promise<Hand>;
}

export interface Stage {
  readonly service: FaultyService;
  /** Another process on the same ledger. */
  start(powers?: PayPowers): Process;
  /** Fails the scenario unless so many writes arrived and took effect. */
  expectCounts(arrivals: number, effects: number): void;
}

const CALL: AdapterCall = {
  args: '{"paymentId":"p1","amount":400}',
  toolCallId: "call_1a2b3c4d5e6f7a8b9c0d1e2f",
  scope: "conversation-7/turn-3",
  signal: undefined,
};

/** Plays one scenario and clears the stage, whatever happened on it. */
export async function onStage(
  { drive, hand, store = () => memoryStore({ forgets: "accepted" }) }: AdapterContractOptions,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  await using service = await startFaultyService();
  const ledger = store();
  const processes: Holdfire[] = [];
  try {
    await play({
      service,
      start(powers = {}) {
        // The shortest pauses there are: what is counted here is requests, not time.
        const retry = { minDelayMs: 1, maxDelayMs: 1, drainMs: 1_000 };
        const hf = createHoldfire({ app: "contract", store: ledger, retry });
        processes.push(hf);
        const definition = payTool(service, powers);
        return {
          hf,
          async call(call) {
            const { text } = await drive({ hf, definition, call: { ...CALL, ...call } });
            return envelopeIn(text);
          },
          async hand() {
            assert.ok(hand, "the adapter has a `hand`");
            return await hand({ hf, definition });
          },
        };
      },
      expectCounts(arrivals, effects) {
        assert.equal(service.arrivals.length, arrivals, "requests that arrived");
        assert.equal(service.effects.length, effects, "effects");
      },
    });
  } finally {
    for (const hf of processes) await hf.close();
  }
}

/** The JSON of the envelope, or a failed scenario. */
function envelopeIn(text: unknown): Envelope {
  assert.equal(typeof text, "string", "the model reads text");
  const envelope: unknown = JSON.parse(text as string);
  assert.ok(typeof envelope === "object" && envelope !== null, "the text is an envelope");
  const { ok, outcome, replayed, message } = envelope as Record<string, unknown>;
  assert.equal(typeof ok, "boolean", "the envelope says ok");
  assert.equal(typeof outcome, "string", "the envelope says outcome");
  assert.equal(typeof replayed, "boolean", "the envelope says replayed");
  assert.equal(typeof message, "string", "the envelope has a message");
  return envelope as Envelope;
}

const PATIENCE_MS = 2_000;
const POLL_MS = 2;

/** Returns once it is so; for what no event announces. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    assert.ok(performance.now() < giveUpAt, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The promise's value, or a failed scenario if nothing but a timeout would settle it. */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  let pending = true;
  const settle = () => {
    pending = false;
  };
  promise.then(settle, settle);
  await until(() => !pending, what);
  return promise;
}

interface PayPowers {
  /** @default true */
  readonly keyed?: boolean | undefined;
  /** @default true */
  readonly readable?: boolean | undefined;
  /** A read in its place, whose answer changes from call to call. @default it pays */
  readonly polls?: boolean | undefined;
}

/** What a tool that polls finds, one call after the other. */
export const STATES = ["queued", "running", "done"] as const;

const DAY_MS = 86_400_000;

export function payTool(
  service: FaultyService,
  { keyed = true, readable = true, polls = false }: PayPowers,
): PayDefinition {
  if (polls) {
    const states = STATES.values();
    const run = async (): Promise<EffectBody> => ({
      id: states.next().value ?? "gone",
      effect: "updated",
      at: 0,
      intent: undefined,
    });
    return { name: "pay", kind: "read", input: typed<PayArguments>(), run };
  }
  const client = service.client(
    keyed ? (readable ? "keyed_readable" : "keyed") : readable ? "readable" : "neither",
  );
  return {
    name: "pay",
    kind: "write",
    input: typed<PayArguments>(),
    intent: ({ paymentId, amount }) => ({ paymentId, amount }),
    run: (args, { key, signal }) => client.create(args, { key, signal }),
    // Longer than any test waits: no scenario may end well by a timeout.
    attemptTimeoutMs: 60_000,
    effect: { type: () => "created", id: ({ id }) => id },
    keyed: keyed ? { forMs: DAY_MS } : undefined,
    readState: readable
      ? async ({ key, signal }) => {
          const found = await client.find({ key }, { signal });
          const [first] = found;
          if (!first) return absent();
          return found.length > 1 ? duplicated(found) : committed(first, { effectId: first.id });
        }
      : undefined,
  };
}
