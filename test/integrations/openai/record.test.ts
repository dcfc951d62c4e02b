import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Holdfire } from "../../../src/create.ts";
import { MissingScopeError, StoreUnavailableError } from "../../../src/errors.ts";
import { type OwnOptions, ownRetries } from "../../../src/integrations/openai/index.ts";
import { failingStore } from "../../engine/failing-store.ts";
import { startModelServer } from "../../servers/model-server.ts";
import { listen, openStage, type Stage } from "../shared/owned.ts";
import { runProcess } from "../shared/run-process.ts";

const MODEL = "gpt-test";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

/** A client as a new process would have it. */
function recorder(hf: Holdfire = stage.another(), options: OwnOptions = {}): OpenAI {
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  return ownRetries(client, hf, { record: true, ...options });
}

const ask = async (client: OpenAI, input: string): Promise<string> =>
  (await client.responses.create({ model: MODEL, input })).output_text;

async function askStreamed(client: OpenAI, input: string): Promise<string> {
  const stream = await client.responses.create({ model: MODEL, input, stream: true });
  let text = "";
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  return text;
}

async function askChatStreamed(client: OpenAI, content: string): Promise<string> {
  const stream = client.chat.completions.stream({
    model: MODEL,
    messages: [{ role: "user", content }],
  });
  return (await stream.finalContent()) ?? "";
}

/** Runs in the scope `job`, as one run of it. */
const inJob = <T>(hf: Holdfire, run: () => Promise<T>): Promise<T> =>
  stage.pass(hf.scope("job", run));

describe.each([
  ["an answer", ask],
  ["a stream", askStreamed],
  ["a stream of the helper", askChatStreamed],
] as const)("%s", (_, asks) => {
  test("is asked for once, and is the same in every later run of the scope", async () => {
    for (let run = 0; run < 3; run += 1) {
      const hf = stage.another();
      const client = recorder(hf);
      expect(await inJob(hf, () => asks(client, "Hi"))).toBe("answer 1");
    }
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("is another one in another scope, and without a record", async () => {
    const hf = stage.another();
    const client = recorder(hf);
    await inJob(hf, () => asks(client, "Hi"));
    expect(await stage.pass(hf.scope("other", () => asks(client, "Hi")))).toBe("answer 2");
    ownRetries(client, hf);
    expect(await inJob(hf, () => asks(client, "Hi"))).toBe("answer 3");
  });

  test("that breaks off is not kept, and is asked for again", async () => {
    stage.server.script({ act: "break", afterEvents: 3 });
    const first = stage.another();
    const client = recorder(first);
    const broken = inJob(first, () => asks(client, "Hi")).catch(() => "broken");
    expect(await broken).not.toBe("answer 1");
    const second = stage.another();
    const again = recorder(second);
    expect(await inJob(second, () => asks(again, "Hi"))).toBe("answer 2");
    expect(await inJob(second, () => asks(again, "Hi"))).toBe("answer 2");
    expect(stage.server.arrivals).toHaveLength(2);
  });

  test("to another prompt in one step is a new sample, told as drift, and kept beside the first", async () => {
    const hf = stage.another();
    const heard = listen(hf);
    const client = recorder(hf, { step: () => "greet" });
    const said = [];
    for (const prompt of ["Hi", "Hello", "Hello", "Hi"]) {
      said.push(await inJob(hf, () => asks(client, prompt)));
    }
    expect(said).toEqual(["answer 1", "answer 2", "answer 2", "answer 1"]);
    expect(heard("warning", "prompt_drift")).toHaveLength(2);
    const drift = { code: "prompt_drift", client: "openai", step: "greet", scope: "job" };
    expect(heard("warning", "prompt_drift")[0]).toEqual(drift);
    const sent = { client: "openai", status: 200, attempt: 1, wireRequests: 1, replayed: false };
    const kept = { ...sent, attempt: 0, wireRequests: 0, replayed: true };
    expect(heard("sample")).toMatchObject([sent, sent, kept, kept]);
    expect(new Set(heard("sample").map(({ step }) => step)).size).toBe(1);
    expect(stage.server.arrivals).toHaveLength(2);
  });
});

test("a run that goes further than the last one replays step by step, then asks", async () => {
  const run = (steps: number) => {
    const hf = stage.another();
    const client = recorder(hf);
    return inJob(hf, async () => {
      const said = [];
      for (let step = 0; step < steps; step += 1) said.push(await ask(client, `step ${step}`));
      return said;
    });
  };
  expect(await run(2)).toEqual(["answer 1", "answer 2"]);
  expect(await run(3)).toEqual(["answer 1", "answer 2", "answer 3"]);
  expect(stage.server.arrivals).toHaveLength(3);
});

test("the same prompt twice in one run is two steps", async () => {
  const hf = stage.another();
  const client = recorder(hf);
  const twice = async () => [await ask(client, "Hi"), await ask(client, "Hi")];
  expect(await inJob(hf, twice)).toEqual(["answer 1", "answer 2"]);
  expect(await inJob(hf, twice)).toEqual(["answer 1", "answer 2"]);
});

test("a call that failed leaves its place to the next one like it", async () => {
  stage.server.script({ act: "status", status: 503 });
  const hf = stage.another();
  const client = recorder(hf, { attempts: 1 });
  const said = await inJob(hf, () => ask(client, "Hi").catch(() => ask(client, "Hi")));
  expect(said).toBe("answer 2");
  const later = stage.another();
  const again = recorder(later);
  expect(await inJob(later, () => ask(again, "Hi"))).toBe("answer 2");
  expect(stage.server.arrivals).toHaveLength(2);
});

test("a tool loop is replayed whole, and its tools are told the same", async () => {
  const asked: unknown[] = [];
  const loop = () => {
    const hf = stage.another();
    const client = recorder(hf);
    return inJob(hf, async () => {
      const runner = client.chat.completions.runTools({
        model: MODEL,
        messages: [{ role: "user", content: "Hi" }],
        tools: [
          {
            type: "function",
            function: {
              name: "weather",
              description: "The weather.",
              parameters: { type: "object", properties: {} },
              parse: JSON.parse,
              function: (args: object) => {
                asked.push(args);
                return "sunny";
              },
            },
          },
        ],
      });
      return runner.finalContent();
    });
  };
  stage.server.script(
    { act: "say", saying: { tool: "weather", args: { city: "Bern" } } },
    { act: "say", saying: { text: "Sunny." } },
  );
  expect(await loop()).toBe("Sunny.");
  expect(await loop()).toBe("Sunny.");
  expect(asked).toEqual([{ city: "Bern" }, { city: "Bern" }]);
  expect(stage.server.arrivals).toHaveLength(2);
});

test("a background answer keeps its id, and is read by it", async () => {
  const run = () => {
    const hf = stage.another();
    const client = recorder(hf);
    return inJob(hf, async () => {
      const { id } = await client.responses.create({ model: MODEL, input: "Hi", background: true });
      return client.responses.retrieve(id);
    });
  };
  expect(await run()).toMatchObject({ id: "resp_1", status: "in_progress" });
  expect(await run()).toMatchObject({ id: "resp_1", status: "completed" });
  expect(stage.server.arrivals.map(({ method }) => method)).toEqual(["POST", "GET", "GET"]);
});

test("a background answer whose id was lost is a new sample", async () => {
  stage.server.script({ act: "break" });
  const hf = stage.another();
  const client = recorder(hf);
  const create = () =>
    client.responses.create({ model: MODEL, input: "Hi", background: true }).then(({ id }) => id);
  await expect(inJob(hf, create)).rejects.toThrow();
  expect(await inJob(hf, create)).toBe("resp_2");
});

test("a failed answer is not kept", async () => {
  const failed = { id: "resp_1", object: "response", status: "failed", output: [] };
  stage.server.script({ act: "status", status: 200, body: failed });
  const hf = stage.another();
  const client = recorder(hf);
  await inJob(hf, () => ask(client, "Hi"));
  expect(await inJob(hf, () => ask(client, "Hi"))).toBe("answer 2");
});

test("without a scope nothing is sent", async () => {
  const error = await stage.fail(ask(recorder(), "Hi"));
  expect(error).toBeInstanceOf(MissingScopeError);
  expect(stage.server.arrivals).toHaveLength(0);
});

test("a scope may be given with the client, and then each owning is a run", async () => {
  const said = [];
  for (let run = 0; run < 2; run += 1) {
    const client = recorder(stage.another(), { scope: "job-9" });
    said.push(await stage.pass(ask(client, "Hi")), await stage.pass(ask(client, "Hi")));
  }
  expect(said).toEqual(["answer 1", "answer 2", "answer 1", "answer 2"]);
});

test("a step may be named after what is asked, in any order", async () => {
  const step: OwnOptions["step"] = ({ body }) => String((body as { input: string }).input);
  const run = (prompts: readonly string[]) => {
    const hf = stage.another();
    const client = recorder(hf, { step });
    return inJob(hf, () => Promise.all(prompts.map((prompt) => ask(client, prompt))));
  };
  const [a, b] = await run(["a", "b"]);
  expect(await run(["b", "a", "b"])).toEqual([b, a, b]);
  expect(stage.server.arrivals).toHaveLength(2);
});

test("a step without a proper name is refused", async () => {
  const client = recorder(stage.another(), { scope: "job", step: () => "" });
  expect(await stage.fail(ask(client, "Hi"))).toMatchObject({ path: "step" });
  expect(stage.server.arrivals).toHaveLength(0);
});

test("of two that ask at once both get the answer that was kept first", async () => {
  const step = () => "the only one";
  const ask2 = [stage.another(), stage.another()].map((hf) => {
    const client = recorder(hf, { step });
    return hf.scope("job", () => ask(client, "Hi"));
  });
  const said = await stage.pass(Promise.all(ask2));
  expect(said[0]).toBe(said[1]);
});

test("an answer of half a megabyte is kept, one of two is not, and that is told", async () => {
  const hf = stage.another();
  const heard = listen(hf);
  const client = recorder(hf);
  const long = (size: number) => ({ text: "a".repeat(size) });
  stage.server.script(
    { act: "say", saying: long(500_000) },
    { act: "say", saying: long(2_000_000) },
  );
  expect(await inJob(hf, () => ask(client, "Hi"))).toHaveLength(500_000);
  expect(await inJob(hf, () => ask(client, "Hi"))).toHaveLength(500_000);
  expect(heard("warning", "payload_lost")).toEqual([]);
  expect(await stage.pass(hf.scope("long", () => ask(client, "Hi")))).toHaveLength(2_000_000);
  expect(heard("warning", "payload_lost")).toMatchObject([
    { tool: "sample:openai", scope: "long" },
  ]);
  expect(await stage.pass(hf.scope("long", () => ask(client, "Hi")))).toBe("answer 3");
});

test("what must not be stored is taken out of the record", async () => {
  const store = stage.store;
  const redact = (value: unknown) => ({ ...(value as object), body: '{"output":[]}' });
  const hf = stage.another({ store, payloads: { redact } });
  const client = recorder(hf);
  await inJob(hf, () => ask(client, "Hi"));
  const [kept] = (await store.list({ tenant: "default" })).items;
  expect(JSON.stringify(kept)).not.toContain("answer 1");
});

test("a ledger that does not answer sends nothing", async () => {
  const store = failingStore({ now: stage.clock.now });
  const hf = stage.another({ store });
  const client = recorder(hf);
  store.fail("hangs", (step) => step === "read");
  const error = await stage.fail(hf.scope("job", () => ask(client, "Hi")));
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect(stage.server.arrivals).toHaveLength(0);
});

test("a ledger that fails after the answer takes nothing from the caller, and is written later", async () => {
  const store = failingStore({ now: stage.clock.now });
  const hf = stage.another({ store });
  const heard = listen(hf);
  const client = recorder(hf);
  store.fail("rejects", (step) => step.startsWith("swap"));
  expect(await inJob(hf, () => ask(client, "Hi"))).toBe("answer 1");
  expect(heard("store", "unrecorded")).toHaveLength(1);
  store.recover();
  await stage.clock.advance(60_000);
  expect(heard("store", "recorded")).toHaveLength(1);
  expect(await inJob(hf, () => ask(client, "Hi"))).toBe("answer 1");
  expect(stage.server.arrivals).toHaveLength(1);
});

/** A model server, and a place for a ledger. */
async function openHost() {
  const server = await startModelServer();
  const folder = mkdtempSync(join(tmpdir(), "holdfire-"));
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return { server, ledger: join(folder, "ledger.db") };
}

test("a process with two branches, killed after the payments: the next one asks and pays nothing", {
  timeout: 120_000,
}, async () => {
  const { server, ledger } = await openHost();
  const run = () => runProcess("test/integrations/shared/two-branches.ts", [server.origin, ledger]);
  const paid = await run();
  expect(paid).toBe("left: answer 2, right: answer 1");
  expect(await run()).toBe(paid);
  const paths = server.arrivals.map((arrival) => arrival.path).sort();
  expect(paths).toEqual(["/payments", "/payments", "/v1/responses", "/v1/responses"]);
});

test("a killed process asks no second time: 1 request, the same answer twice", {
  timeout: 120_000,
}, async () => {
  const { server, ledger } = await openHost();
  const args = ["openai", server.origin, ledger];
  expect(await runProcess("test/integrations/shared/ask-once.ts", args)).toBe("answer 1");
  expect(await runProcess("test/integrations/shared/ask-once.ts", args)).toBe("answer 1");
  expect(server.arrivals).toHaveLength(1);
});
