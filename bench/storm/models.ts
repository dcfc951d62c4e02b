/**
 * Rows of the storm: clients that ask models. What is retried is the request, as a sample.
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIChatCompletionsModel, Runner, retryPolicies } from "@openai/agents";
import { generateText, type LanguageModel } from "ai";
import OpenAI from "openai";
import OpenAI6 from "openai-6";
import { Agent as Dispatcher, fetch as transport } from "undici";
import { ownRetries as ownAi } from "../../src/integrations/ai/index.ts";
import { ownRetries as ownAnthropic } from "../../src/integrations/anthropic/index.ts";
import { ownRetries as ownGenAi } from "../../src/integrations/genai/index.ts";
import { ownRetries as ownLangChain } from "../../src/integrations/langchain/index.ts";
import { ownRetries as ownOpenAI } from "../../src/integrations/openai/index.ts";
import { ownRetries as ownAgents } from "../../src/integrations/openai-agents/index.ts";
import type { CountingServer } from "../../test/servers/counting-server.ts";
import type { Row } from "./rows.ts";

const ASKS = { maxRetries: 3 };
const at = ({ url, patienceMs }: CountingServer) => ({
  apiKey: "x",
  baseURL: `${url}/v1`,
  timeout: patienceMs,
});

const openai = (server: CountingServer) => new OpenAI(at(server));
const openai6 = (server: CountingServer) => new OpenAI6(at(server));
const chat = (client: OpenAI | OpenAI6, more: object = {}) =>
  (client as OpenAI).chat.completions.create(
    { model: "m", messages: [{ role: "user", content: "hi" }] },
    more,
  );

const anthropic = (server: CountingServer) => new Anthropic({ ...at(server), baseURL: server.url });
const message = (client: Anthropic, more: object = {}) => {
  const messages = [{ role: "user" as const, content: "hi" }];
  return client.messages.create({ model: "m", max_tokens: 5, messages }, more);
};

/** Its own timeout is the caller's, and final; this is the transport's. */
function aiModel({ url, patienceMs }: CountingServer) {
  const dispatcher = new Dispatcher({ headersTimeout: patienceMs });
  const fetch: typeof globalThis.fetch = (to, init) =>
    transport(to as string, { ...init, dispatcher } as object) as never;
  return createOpenAI({ apiKey: "x", baseURL: `${url}/v1`, fetch }).chat("m");
}
const generate = (model: LanguageModel, more: object = {}) =>
  generateText({ model, prompt: "hi", ...more });

const langchain = (server: CountingServer) => {
  const { apiKey, baseURL, timeout } = at(server);
  return new ChatOpenAI({ model: "m", apiKey, timeout, configuration: { baseURL } });
};

const runner = new Runner({ tracingDisabled: true });
const agentModel = (server: CountingServer) =>
  new OpenAIChatCompletionsModel(openai(server) as never, "m");
const run = (model: OpenAIChatCompletionsModel, modelSettings: object = {}) =>
  runner.run(new Agent({ name: "a", instructions: "x", model, modelSettings }), "hi");
const RUNNER_RETRIES = {
  retry: {
    maxRetries: 3,
    policy: retryPolicies.any(retryPolicies.httpStatus([503]), retryPolicies.networkError()),
    backoff: { initialDelayMs: 1 },
  },
};

const genai = ({ url, patienceMs }: CountingServer) =>
  new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url, timeout: patienceMs } });
const content = (client: GoogleGenAI, config: object = {}) =>
  client.models.generateContent({ model: "m", contents: "hi", config });
const interact = (client: GoogleGenAI, more?: object) =>
  client.interactions.create({ model: "m", input: "hi" } as never, more as never);

export const MODELS: readonly Row[] = [
  {
    name: "openai",
    bare: (server) => chat(openai(server)),
    owned: (server, hf, attempts) => chat(ownOpenAI(openai(server), hf, { attempts })),
    asking: (server, hf, attempts) => chat(ownOpenAI(openai(server), hf, { attempts }), ASKS),
    clone(server, hf, attempts) {
      const client = openai(server);
      const clone = client.withOptions(ASKS);
      ownOpenAI(client, hf, { attempts });
      return chat(clone);
    },
  },
  {
    name: "openai 6",
    bare: (server) => chat(openai6(server)),
    owned: (server, hf, attempts) => chat(ownOpenAI(openai6(server), hf, { attempts })),
    asking: (server, hf, attempts) => chat(ownOpenAI(openai6(server), hf, { attempts }), ASKS),
    clone(server, hf, attempts) {
      const client = openai6(server);
      const clone = client.withOptions(ASKS);
      ownOpenAI(client, hf, { attempts });
      return chat(clone);
    },
  },
  {
    name: "@anthropic-ai/sdk",
    bare: (server) => message(anthropic(server)),
    owned: (server, hf, attempts) => message(ownAnthropic(anthropic(server), hf, { attempts })),
    asking: (server, hf, attempts) =>
      message(ownAnthropic(anthropic(server), hf, { attempts }), ASKS),
    clone(server, hf, attempts) {
      const client = anthropic(server);
      const clone = client.withOptions(ASKS);
      ownAnthropic(client, hf, { attempts });
      return message(clone);
    },
  },
  {
    name: "ai generateText",
    bare: (server) => generate(aiModel(server)),
    owned: (server, hf, attempts) => generate(ownAi(aiModel(server), hf, { attempts })),
    asking: (server, hf, attempts) => generate(ownAi(aiModel(server), hf, { attempts }), ASKS),
  },
  {
    name: "langchain ChatOpenAI",
    bare: (server) => langchain(server).invoke("hi"),
    owned: (server, hf, attempts) => ownLangChain(langchain(server), hf, { attempts }).invoke("hi"),
    asking: (server, hf, attempts) =>
      ownLangChain(langchain(server), hf, { attempts }).invoke("hi", ASKS),
    clone(server, hf, attempts) {
      const model = langchain(server);
      const clone = model.bindTools([]);
      ownLangChain(model, hf, { attempts });
      return clone.invoke("hi");
    },
  },
  {
    name: "@openai/agents run",
    bare: (server) => run(agentModel(server)),
    owned: (server, hf, attempts) => run(ownAgents(agentModel(server), hf, { attempts })),
    asking: (server, hf, attempts) =>
      run(ownAgents(agentModel(server), hf, { attempts }), RUNNER_RETRIES),
  },
  {
    name: "genai models",
    bare: (server) => content(genai(server)),
    owned: (server, hf, attempts) => content(ownGenAi(genai(server), hf, { attempts })),
    asking: (server, hf, attempts) =>
      content(ownGenAi(genai(server), hf, { attempts }), {
        httpOptions: { retryOptions: { attempts: 4, initialDelay: 0.001 } },
      }),
  },
  {
    name: "genai interactions",
    bare: (server) => interact(genai(server)),
    owned: (server, hf, attempts) => interact(ownGenAi(genai(server), hf, { attempts })),
    asking: (server, hf, attempts) =>
      interact(ownGenAi(genai(server), hf, { attempts }), {
        retries: { strategy: "attempt-count-backoff", maxRetries: 3, retryConnectionErrors: true },
      }),
  },
];
