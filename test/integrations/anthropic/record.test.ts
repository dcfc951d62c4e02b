import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Holdfire } from "../../../src/create.ts";
import { type OwnOptions, ownRetries } from "../../../src/integrations/anthropic/index.ts";
import { startModelServer } from "../../servers/model-server.ts";
import { listen, openStage, type Stage } from "../shared/owned.ts";
import { runProcess } from "../shared/run-process.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

const question = (content: string) => ({
  model: "claude-test",
  max_tokens: 100,
  messages: [{ role: "user" as const, content }],
});

const recorder = (hf: Holdfire, options: OwnOptions): Anthropic =>
  ownRetries(new Anthropic({ baseURL: stage.server.anthropic, apiKey: "k" }), hf, {
    record: true,
    ...options,
  });

const ask = async (client: Anthropic, prompt: string): Promise<string> =>
  textOf(await client.messages.create(question(prompt)));

const askStreamed = (client: Anthropic, prompt: string): Promise<string> =>
  client.messages.stream(question(prompt)).finalText();

const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** One run of the scope `job`, as a new process would make it. */
const run = <T>(
  work: (client: Anthropic) => Promise<T>,
  hf = stage.another(),
  options: OwnOptions = {},
): Promise<T> => {
  const client = recorder(hf, options);
  return stage.pass(hf.scope("job", () => work(client)));
};

describe.each([
  ["an answer", ask],
  ["a stream", askStreamed],
] as const)("%s", (_, asks) => {
  test("is asked for once, and is the same in every later run of the scope", async () => {
    expect(await run((client) => asks(client, "Hi"))).toBe("answer 1");
    expect(await run((client) => asks(client, "Hi"))).toBe("answer 1");
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("that breaks off is not kept, and is asked for again", async () => {
    stage.server.script({ act: "break", afterEvents: 4 });
    await expect(run((client) => asks(client, "Hi"))).rejects.toThrow();
    expect(await run((client) => asks(client, "Hi"))).toBe("answer 2");
    expect(await run((client) => asks(client, "Hi"))).toBe("answer 2");
    expect(stage.server.arrivals).toHaveLength(2);
  });

  test("to another prompt in one step is a new sample, and told as drift", async () => {
    const hf = stage.another();
    const heard = listen(hf);
    const greet = { step: () => "greet" };
    await run((client) => asks(client, "Hi"), hf, greet);
    expect(await run((client) => asks(client, "Hello"), hf, greet)).toBe("answer 2");
    expect(await run((client) => asks(client, "Hi"), hf, greet)).toBe("answer 1");
    expect(heard("warning", "prompt_drift")).toEqual([
      {
        code: "prompt_drift",
        client: "anthropic",
        step: "greet",
        scope: "job",
      },
    ]);
  });
});

test("a stream that an error ends is not kept", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const text = `event: error\ndata: ${JSON.stringify(error)}\n\n`;
  const { server } = stage;
  server.script({ act: "raw", contentType: "text/event-stream", text });
  await expect(run((client) => askStreamed(client, "Hi"))).rejects.toThrow();
  expect(await run((client) => askStreamed(client, "Hi"))).toBe("answer 2");
});

test("a tool runner is replayed whole", async () => {
  const asked: unknown[] = [];
  const loop = (client: Anthropic) => {
    const weather = betaZodTool({
      name: "weather",
      description: "The weather.",
      inputSchema: z.object({ city: z.string() }),
      run: (args) => {
        asked.push(args);
        return "sunny";
      },
    });
    const runner = client.beta.messages.toolRunner({ ...question("Hi"), tools: [weather] });
    return runner.runUntilDone();
  };
  stage.server.script(
    { act: "say", saying: { tool: "weather", args: { city: "Bern" } } },
    { act: "say", saying: { text: "Sunny." } },
  );
  const first = await run(loop);
  expect(first.content).toMatchObject([{ text: "Sunny." }]);
  expect(await run(loop)).toEqual(first);
  expect(asked).toHaveLength(2);
  expect(stage.server.arrivals).toHaveLength(2);
});

test("a killed process asks no second time: 1 request, the same answer twice", {
  timeout: 120_000,
}, async () => {
  const server = await startModelServer();
  const folder = mkdtempSync(join(tmpdir(), "holdfire-"));
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const args = ["anthropic", server.origin, join(folder, "ledger.db")];
  expect(await runProcess("test/integrations/shared/ask-once.ts", args)).toBe("answer 1");
  expect(await runProcess("test/integrations/shared/ask-once.ts", args)).toBe("answer 1");
  expect(server.arrivals).toHaveLength(1);
});
