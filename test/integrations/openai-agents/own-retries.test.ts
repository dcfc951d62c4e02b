import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIProvider,
  OpenAIResponsesModel,
  Runner,
  retryPolicies,
} from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/openai-agents/index.ts";
import { type CountingServer, FAILURES } from "../../servers/counting-server.ts";
import { after, chatAnswer } from "../shared/chat-answers.ts";
import { count, openHoldfire, serve } from "../shared/owning.ts";

const clientOf = ({ url, patienceMs }: CountingServer) =>
  new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, timeout: patienceMs });
const chat = (client: OpenAI) => new OpenAIChatCompletionsModel(client as never, "m");
const responses = (client: OpenAI) => new OpenAIResponsesModel(client as never, "m");

const runner = new Runner({ tracingDisabled: true });
type Model = ReturnType<typeof chat> | ReturnType<typeof responses>;
const run = (model: Model, modelSettings: object = {}) =>
  runner.run(new Agent({ name: "a", instructions: "x", model, modelSettings }), "hi");
const stream = async (model: Model) => {
  const agent = new Agent({ name: "a", instructions: "x", model });
  const result = await runner.run(agent, "hi", { stream: true });
  for await (const _ of result);
  await result.completed;
};

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  describe.each([
    ["chat", chat],
    ["responses", responses],
  ])("a %s model", (_, make) => {
    it.each([1, 3])("at %d attempts is as many requests", async (attempts) => {
      const own = (server: CountingServer) =>
        ownRetries(make(clientOf(server)), openHoldfire(), { attempts });
      expect(await count(failure, (server) => run(own(server)))).toBe(attempts);
      expect(await count(failure, (server) => stream(own(server)))).toBe(attempts);
      const client = (server: CountingServer) =>
        make(ownRetries(clientOf(server), openHoldfire(), { attempts }));
      expect(await count(failure, (server) => run(client(server)))).toBe(attempts);
    });
  });
});

it("the runner's own retries are told that it has been tried", async () => {
  const policy = retryPolicies.httpStatus([503]);
  const retry = { maxRetries: 2, policy, backoff: { initialDelayMs: 1 } };
  expect(await count("503", (server) => run(chat(clientOf(server)), { retry }))).toBe(5);
  const own = (server: CountingServer) =>
    ownRetries(chat(clientOf(server)), openHoldfire(), { attempts: 2 });
  expect(await count("503", (server) => run(own(server), { retry }))).toBe(2);
  const client = (server: CountingServer) =>
    chat(ownRetries(clientOf(server), openHoldfire(), { attempts: 2 }));
  expect(await count("503", (server) => run(client(server), { retry }))).toBe(2);
});

it("owned on two floors, the model and its client, it is retried by one", async () => {
  const hf = openHoldfire();
  const own = (server: CountingServer) =>
    ownRetries(chat(ownRetries(clientOf(server), hf, { attempts: 3 })), hf, { attempts: 2 });
  expect(await count("503", (server) => run(own(server)))).toBe(2);
});

it("every model of an owned provider is owned", async () => {
  const call = (server: CountingServer) => {
    const provider = new OpenAIProvider({ openAIClient: clientOf(server) as never });
    ownRetries(provider, openHoldfire(), { attempts: 2 });
    const agent = new Agent({ name: "a", instructions: "x", model: "m" });
    return new Runner({ tracingDisabled: true, modelProvider: provider }).run(agent, "hi");
  };
  expect(await count("503", call)).toBe(2);
});

it("a run that comes through at last gives its answer", async () => {
  const hf = openHoldfire();
  const server = await serve(after(1, chatAnswer("hello")));
  const model = chat(clientOf(server));
  expect(ownRetries(ownRetries(model, hf), hf)).toBe(model);
  expect((await run(model)).finalOutput).toBe("hello");
  expect(server.arrivals).toHaveLength(2);
});
