/**
 * The world of an example, on this machine: a bank that pays and loses its first reply, and a model that
 * wants one payout. What an example ends with is counted by the bank, not by the example.
 *
 * @module
 */

import {
  type FaultyService,
  faults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import {
  type ModelServer,
  type Saying,
  startModelServer,
} from "../../test/servers/model-server.ts";

export interface Payout {
  readonly payee: string;
  readonly cents: number;
}

export interface Paid extends Payout {
  readonly id: string;
}

interface Sending {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The client that you would have of your bank. It sends once and never retries. */
export interface Bank {
  readonly url: string;
  pay(payout: Payout, options?: Sending): Promise<Paid>;
  /** What was paid under this key. */
  find(key: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Paid[]>;
}

export interface World {
  readonly bank: Bank;
  /** Speaks like OpenAI at `model.openai`, like Anthropic at `model.anthropic`. */
  readonly model: ModelServer;
  /** Closes all, prints how many payouts there were, and lets the program end with 1 if it was not one. */
  end(...closing: readonly { close(): unknown }[]): Promise<void>;
}

/** `keyed`: the bank pays once per key. Without it, it only remembers the key, so that it can be found. */
export async function startWorld(options: { readonly keyed?: boolean } = {}): Promise<World> {
  const service = await startFaultyService();
  service.plan(faults.commitThenReset());
  const model = await startModelServer();
  model.onArrival(({ body }) => {
    model.script({ act: "say", saying: nextSaying(JSON.stringify(body)) });
  });

  return {
    model,
    bank: bankOf(service, options.keyed ? "keyed" : "readable"),
    async end(...closing) {
      for (const open of closing) await open.close();
      await Promise.all([model.close(), service.close()]);
      const { length } = service.effects;
      console.log(`payouts: ${length}`);
      process.exitCode = length === 1 ? 0 : 1;
    },
  };
}

export function bankOf(service: FaultyService, kind: "keyed" | "readable" | "neither"): Bank {
  const client = service.client(kind);
  return {
    url: `${service.url}/${kind}/effects`,
    pay: async (payout, sending) => paid(await client.create(payout, sending)),
    find: async (key, reading) => (await client.find({ key }, reading)).map(paid),
  };
}

/** The model calls the tool, reads its result, and says what it has read. */
function nextSaying(request: string): Saying {
  if (!TOOL_RESULT.test(request)) return { tool: "pay", args: { payee: "ana", cents: 40_00 } };
  return { text: SAYS_OK.test(request) ? "Ana is paid." : "I do not know." };
}

/** The result of a tool, in any of the wire formats. */
const TOOL_RESULT = /"role":"tool"|"type":"(?:function_call_output|tool_result)"/;
/** The envelope is JSON within JSON. */
const SAYS_OK = /ok\\*":true/;

const paid = ({ id, intent }: { readonly id: string; readonly intent: unknown }): Paid => ({
  id,
  ...(intent as Payout),
});
