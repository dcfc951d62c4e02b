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
  readonly payee: string;
  readonly cents: number;
  readonly note?: string | undefined;
}

export interface Stage {
  /** The name of the cell. */
  readonly cell: string;
  readonly service: FaultyService;
  readonly model: ModelServer;
  /** Missing in the cells that show what happens without it. */
  readonly hf: Holdfire | undefined;
  /** Of the run that is under way. */
  signal?: AbortSignal | undefined;
  /** What the tool does: one request to a service that knows no keys and cannot be asked. */
  pay(args: Payment, signal?: AbortSignal): Promise<unknown>;
  /** The model's next words; after them it says "ok". */
  says(...sayings: readonly (Saying | Act)[]): void;
}

export const RULES = {
  kind: "write",
  intent: ({ payee, cents }: Payment): object => ({ payee, cents }),
} as const;

export const WORDS = "Pay Ana 4 euros.";
export const PAY = { tool: "pay", args: { payee: "ana", cents: 400 } } as const;
/** The same call as a model words it the second time. */
export const AGAIN = {
  tool: "pay",
  args: '{"note":"please","cents":400.0,"payee":"ana"}',
} as const;

export const PAY_SCHEMA = {
  type: "object",
  properties: {
    payee: { type: "string" },
    cents: { type: "number" },
    note: { type: "string" },
  },
  required: ["payee", "cents"],
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
    ? createHoldfire({ app: "bench", store: memoryStore({ forgets: "accepted" }), retry })
    : undefined;
  const client = service.client("neither");
  try {
    await play({
      cell: crypto.randomUUID(),
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
