import Anthropic from "@anthropic-ai/sdk";
import { ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { getRetryable } from "@langchain/core/errors";
import { tool } from "@langchain/core/tools";
import { AsyncCaller } from "@langchain/core/utils/async_caller";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, retryPolicies, run } from "@openai/agents";
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createAgent, toolRetryMiddleware } from "langchain";
import pRetry from "p-retry";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as errors from "../../../../src/errors.ts";
import { HoldfireError } from "../../../../src/errors.ts";
import { chatAnswer, toolCallAnswer } from "../chat-answers.ts";
import { openHoldfire, serve } from "../owning.ts";

/** A write to a service that drops the connection: nobody can know, so it throws. */
async function openWrite() {
  const hf = openHoldfire();
  const server = await serve((response) => response.socket?.resetAndDestroy());
  let calls = 0;
  const payOut = hf.tool({
    name: "pay_out",
    kind: "write",
    run: async (_: { cents: number }) => (await fetch(server.url, { method: "POST" })).status,
  });
  return {
    server,
    calls: () => calls,
    payOut: () => {
      calls += 1;
      return payOut({ cents: 100 }, { scope: "job-1" });
    },
  };
}

const unknown = { code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" };

/** As the first call throws it: with what the platform threw, which a loop might take for a reason to try again. */
const withCause = {
  ...unknown,
  message: expect.stringContaining("TypeError: fetch failed"),
  cause: { name: "TypeError", message: "fetch failed", cause: { code: "ECONNRESET" } },
};

describe("a write that may have happened, inside another retry loop", () => {
  it("p-retry cannot be told, so it calls again; the record answers, and one request arrives", async () => {
    const { server, payOut, calls } = await openWrite();
    const loop = pRetry(payOut, { retries: 2, minTimeout: 1 });
    await expect(loop).rejects.toMatchObject(unknown);
    expect(calls()).toBe(3);
    expect(server.arrivals).toHaveLength(1);
  });

  it("LangChain's caller takes it for final", async () => {
    const { server, payOut, calls } = await openWrite();
    await expect(new AsyncCaller({}).call(payOut)).rejects.toMatchObject(withCause);
    expect(calls()).toBe(1);
    expect(server.arrivals).toHaveLength(1);
  });

  it("a LangGraph node with a retry policy takes it for final", async () => {
    const { server, payOut, calls } = await openWrite();
    const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false };
    const graph = new StateGraph(Annotation.Root({ cents: Annotation<number>() }))
      .addNode("pay", async () => ({ cents: await payOut() }), { retryPolicy })
      .addEdge(START, "pay")
      .compile();
    await expect(graph.invoke({ cents: 1 })).rejects.toMatchObject(withCause);
    expect(calls()).toBe(1);
    expect(server.arrivals).toHaveLength(1);
  });

  it("the AI SDK takes it for final", async () => {
    const { server, payOut, calls } = await openWrite();
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        await payOut();
        throw new Error("not reached");
      },
    });
    await expect(generateText({ model, prompt: "hi" })).rejects.toMatchObject(withCause);
    expect(calls()).toBe(1);
    expect(server.arrivals).toHaveLength(1);
  });

  it("LangChain's toolRetryMiddleware leaves it alone, by its stamp", async () => {
    const { server, payOut, calls } = await openWrite();
    const call = toolCallAnswer("call_1", "pay", {});
    const chat = await serve((response, arrival, nth) =>
      (nth === 1 ? call : chatAnswer("done"))(response, arrival, nth),
    );
    const model = new ChatOpenAI({
      model: "m",
      apiKey: "x",
      configuration: { baseURL: `${chat.url}/v1` },
    });
    const pay = tool(payOut, { name: "pay", description: "Pays.", schema: z.object({}) });
    // Its types do not fit its own agent under `exactOptionalPropertyTypes`.
    const middleware = [toolRetryMiddleware({ initialDelayMs: 1 })] as unknown as readonly [];
    await createAgent({ model, tools: [pay], middleware }).invoke({
      messages: [{ role: "user", content: "pay" }],
    });
    expect(calls()).toBe(1);
    expect(server.arrivals).toHaveLength(1);
  });
});

/**
 * These three look for a network error in the chain of causes, or in the text. None of them stands around a tool by
 * itself: each is inside a client, around the client's own requests.
 */
describe("the same inside a client that looks into causes", () => {
  it("the AWS SDK calls again once; the record answers without a cause, and one request arrives", async () => {
    const { server, payOut, calls } = await openWrite();
    const client = new S3Client({
      region: "us-east-1",
      credentials: { accessKeyId: "x", secretAccessKey: "y" },
      requestHandler: {
        handle: async () => {
          await payOut();
          throw new Error("not reached");
        },
      },
    });
    await expect(client.send(new ListBucketsCommand({}))).rejects.toMatchObject(unknown);
    expect(calls()).toBe(2);
    expect(server.arrivals).toHaveLength(1);
  });

  it("a middleware of Anthropic's client takes it for final", async () => {
    const { server, payOut, calls } = await openWrite();
    const client = new Anthropic({
      apiKey: "x",
      middleware: [
        async () => {
          await payOut();
          throw new Error("not reached");
        },
      ],
    });
    const asked = client.messages.create({ model: "m", max_tokens: 1, messages: [] });
    await expect(asked).rejects.toMatchObject(withCause);
    expect(calls()).toBe(1);
    expect(server.arrivals).toHaveLength(1);
  });

  it("a network policy of the agents SDK reads the text, and calls again; one request arrives", async () => {
    const { server, payOut, calls } = await openWrite();
    const model = {
      async getResponse(): Promise<never> {
        await payOut();
        throw new Error("not reached");
      },
      async *getStreamedResponse(): AsyncGenerator<never> {},
    };
    const agent = new Agent({
      name: "a",
      model,
      modelSettings: {
        retry: {
          maxRetries: 2,
          policy: retryPolicies.networkError(),
          backoff: { initialDelayMs: 1 },
        },
      },
    });
    await expect(run(agent, "hi")).rejects.toMatchObject(unknown);
    expect(calls()).toBe(3);
    expect(server.arrivals).toHaveLength(1);
  });
});

describe("every error", () => {
  const classes = Object.values(errors).filter(
    (value) => value.prototype instanceof HoldfireError,
  ) as unknown as (new (
    ...facts: unknown[]
  ) => HoldfireError)[];

  it.each(classes.map((Class) => [Class.name, Class] as const))("%s looks final", (_, Class) => {
    const error = new Class({ tool: "pay_out", id: "id", key: "key" }, "reason", "more");
    expect(getRetryable(error)).toBe(false);
    expect(error.isRetryable).toBe(false);
    expect([400, 409]).toContain(error.status);
    expect(Object.keys(error)).not.toContain("cause");
  });
});
