/**
 * What one cell plays on: a service that may lose its replies, a model that says what it is told to, and a holdfire
 * or none. What is counted is effects.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type FaultyService, startFaultyService } from "../../src/testing/faulty-service.ts";
import {
  type Act,
  type ModelServer,
  type Saying,
  startModelServer,
} from "../../test/servers/model-server.ts";

export interface Payment {
  readonly paymentId: string;
  readonly amount: number;
  readonly note?: string | undefined;
}

export interface Stage {
  readonly service: FaultyService;
  readonly model: ModelServer;
  /** Missing in the cells that show what happens without it. */
  readonly hf: Holdfire | undefined;
  /** What the tool does: one request to a service that knows no keys and cannot be asked. */
  pay(args: Payment, signal?: AbortSignal): Promise<unknown>;
  /** The model's next words; after them it says "ok". */
  says(...sayings: readonly (Saying | Act)[]): void;
}

export const RULES = {
  kind: "write",
  intent: ({ paymentId, amount }: Payment): object => ({ paymentId, amount }),
} as const;

export const THREAD = "conversation-7";
export const WORDS = "Pay p1";
export const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } } as const;
/** The same call as a model words it the second time. */
export const AGAIN = {
  tool: "pay",
  args: '{"note":"please","amount":400.0,"paymentId":"p1"}',
} as const;

export const PAY_SCHEMA = {
  type: "object",
  properties: {
    paymentId: { type: "string" },
    amount: { type: "number" },
    note: { type: "string" },
  },
  required: ["paymentId", "amount"],
  additionalProperties: false,
} as const;

/** The effects that a play had. */
export async function countEffects(
  play: (stage: Stage) => Promise<unknown>,
  guarded: boolean,
): Promise<number> {
  await using service = await startFaultyService();
  const model = await startModelServer();
  model.usually({ act: "say", saying: { text: "ok" } });
  const retry = { minDelayMs: 1, maxDelayMs: 1, drainMs: 100 };
  const hf = guarded
    ? createHoldfire({ store: memoryStore({ forgets: "accepted" }), retry })
    : undefined;
  const client = service.client("neither");
  try {
    await play({
      service,
      model,
      hf,
      pay: (args, signal) => client.create(args, { signal }),
      says: (...sayings) =>
        model.script(
          ...sayings.map((one): Act => ("act" in one ? one : { act: "say", saying: one })),
        ),
    });
    return service.effects.length;
  } finally {
    await hf?.close();
    await model.close();
  }
}
