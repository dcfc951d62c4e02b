/**
 * The world of an example, on this machine: a bank that pays and loses its first reply, and a model that
 * wants one payout. What an example ends with is counted by the bank, not by the example.
 *
 * @module
 */

import { createClient } from "../../src/testing/faulty-service/client.ts";
import { faults, startFaultyService } from "../../src/testing/faulty-service.ts";
import {
  type ModelServer,
  type Saying,
  startModelServer,
} from "../../test/servers/model-server.ts";
import { startTokens, withToken } from "./tokens.ts";

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
  /** What is left of 1000 euros. */
  balance(): Promise<{ readonly cents: number }>;
}

/** A bank with OAuth: its client refreshes the token by a POST of its own before it pays. */
export interface OAuthBank extends Bank {
  /** The origin of the token endpoint. */
  readonly tokens: string;
}

export interface World {
  readonly bank: OAuthBank;
  /** Speaks like OpenAI at `model.openai`, like Anthropic at `model.anthropic`. */
  readonly model: ModelServer;
  /** Closes all, prints how many payouts there were, and lets the program end with 1 if it was not one. */
  end(...closing: readonly { close(): unknown }[]): Promise<void>;
}

/** `keyed`: the bank pays once per key. Without it, it only remembers the key, so that it can be found. */
export async function startWorld(options: { readonly keyed?: boolean } = {}): Promise<World> {
  const service = await startFaultyService();
  service.plan(faults.commitThenReset());
  const tokens = await startTokens();
  const model = await startModelServer();
  model.onArrival(({ body }) => {
    model.script({ act: "say", saying: nextSaying(JSON.stringify(body)) });
  });

  return {
    model,
    bank: oauthBankOf(service, options.keyed ? "keyed" : "readable", tokens),
    async end(...closing) {
      for (const open of closing) await open.close();
      await Promise.all([model.close(), service.close(), tokens.close()]);
      const { length } = service.effects;
      console.log(`payouts: ${length}`);
      process.exitCode = length === 1 ? 0 : 1;
    },
  };
}

interface At {
  readonly url: string;
}

type BankKind = "keyed" | "readable" | "neither";

export const oauthBankOf = (service: At, kind: BankKind, tokens: At): OAuthBank => ({
  ...bankOf(service, kind, withToken(tokens.url)),
  tokens: tokens.url,
});

export function bankOf({ url }: At, kind: BankKind, send?: typeof fetch): Bank {
  const client = createClient(url, kind, { fetch: send });
  return {
    url: `${url}/${kind}/effects`,
    pay: async (payout, sending) => paid(await client.create(payout, sending)),
    find: async (key, reading) => (await client.find({ key }, reading)).map(paid),
    async balance() {
      const payouts = (await client.find({})).map(paid);
      return { cents: payouts.reduce((left, { cents }) => left - cents, FUNDS) };
    },
  };
}

const FUNDS = 1000_00;

/** The model calls the tool, reads its result, and says what it has read. */
function nextSaying(request: string): Saying {
  if (!TOOL_RESULT.test(request)) return { tool: "pay", args: { payee: "ana", cents: 40_00 } };
  if (SAYS_HELD.test(request)) return { text: "It waits for a person." };
  return { text: SAYS_OK.test(request) ? "Ana is paid." : "I do not know." };
}

/** The result of a tool, in any of the wire formats. */
const TOOL_RESULT = /"role":"tool"|"type":"(?:function_call_output|tool_result)"/;
/** The envelope is JSON within JSON. */
const SAYS_OK = /ok\\*":true/;
const SAYS_HELD = /outcome\\*":\\*"held/;

const paid = ({ id, intent }: { readonly id: string; readonly intent: unknown }): Paid => ({
  id,
  ...(intent as Payout),
});
