/**
 * A run that asks a model on several branches is run again: the record gives each branch its own answer back,
 * whatever the order in which the branches ask.
 */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { LeaseLostError, ResultLostError } from "../../src/errors.ts";
import {
  ownRetries as ownAnthropic,
  runToolCalls as runAnthropic,
} from "../../src/integrations/anthropic/index.ts";
import {
  type OwnOptions,
  ownRetries,
  runToolCalls as runOpenAI,
} from "../../src/integrations/openai/index.ts";
import { openStage, type Stage } from "../integrations/shared/owned.ts";
import { type Heard, listen } from "../observe/heard.ts";

const MODEL = "gpt-test";

let stage: Stage;
/** Every payment that was made. */
let paid: string[];

beforeEach(async () => {
  stage = await openStage();
  paid = [];
});

/** What one process has: a holdfire, a recorded client, and guarded tools. */
interface Process {
  readonly hf: Holdfire;
  readonly heard: Heard;
  readonly client: OpenAI;
  readonly lookUp: (args: { readonly name: string }) => Promise<string>;
  readonly pay: GuardedTool<{ readonly what: string }, string>;
}

/** `until` is when the look-up of this name is answered; a replay does not wait for it. */
function startProcess(
  until: Readonly<Record<string, Promise<void>>> = {},
  options: OwnOptions = {},
): Process {
  const hf = stage.another();
  const client = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
  return {
    hf,
    heard: listen(hf),
    client: ownRetries(client, hf, { record: true, ...options }),
    lookUp: hf.tool({
      name: "look_up",
      kind: "write",
      run: async ({ name }: { readonly name: string }) => {
        await until[name];
        return `facts of ${name}`;
      },
    }),
    pay: hf.tool({
      name: "pay",
      kind: "write",
      run: async ({ what }: { readonly what: string }) => {
        paid.push(what);
        return `paid ${what}`;
      },
    }),
  };
}

const ask = async ({ client }: Process, input: string): Promise<string> =>
  (await client.responses.create({ model: MODEL, input })).output_text;

async function askStreamed({ client }: Process, input: string): Promise<string> {
  const stream = await client.responses.create({ model: MODEL, input, stream: true });
  let text = "";
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  return text;
}

/** Reads the first words of an answer, and leaves. */
async function askBriefly({ client }: Process, input: string): Promise<string> {
  const stream = await client.responses.create({ model: MODEL, input, stream: true });
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") return event.delta;
  }
  return "";
}

type Asks = (process: Process, input: string) => Promise<string>;

/** A guarded tool, the model, a guarded payment of what the model said. */
async function branch(process: Process, name: string, asks: Asks): Promise<string> {
  const facts = await process.lookUp({ name });
  return process.pay({ what: `${name}: ${await asks(process, facts)}` });
}

const inJob = <T>({ hf }: Process, work: () => Promise<T>): Promise<T> =>
  stage.pass(hf.scope("job", work));

const drifts = ({ heard }: Process) => heard("warning", "prompt_drift");

/** When so many requests have arrived at the model. */
const arrivalOf = (count: number): Promise<void> =>
  new Promise((resolve) => stage.server.onArrival(({ n }) => n === count && resolve()));

describe.each([
  ["answers", ask],
  ["streams", askStreamed],
  ["streams that are left early", askBriefly],
] as const)("%s on two branches", (_, asks) => {
  const bothBranches = (process: Process) =>
    inJob(process, () =>
      Promise.all([branch(process, "left", asks), branch(process, "right", asks)]),
    );

  test("a rerun in which they ask in the other order: nothing is asked and nothing is paid again", async () => {
    // In the first run the right branch asks first, in the second the left one does.
    const first = await bothBranches(startProcess({ left: arrivalOf(1) }));
    expect(stage.server.arrivals.map(({ body }) => body?.input)).toEqual([
      "facts of right",
      "facts of left",
    ]);
    const second = startProcess();
    expect(await bothBranches(second)).toEqual(first);
    expect(stage.server.arrivals).toHaveLength(2);
    expect(paid).toHaveLength(2);
    expect(drifts(second)).toEqual([]);
  });

  test("one of two parallel calls fails once, and is made again by its caller", async () => {
    stage.server.script({ act: "status", status: 503 });
    const once = (process: Process, input: string) =>
      asks(process, input).catch(() => asks(process, input));
    const run = (process: Process) =>
      inJob(process, () =>
        Promise.all(["left", "right"].map((name) => branch(process, name, once))),
      );
    const first = await run(startProcess({ right: arrivalOf(1) }, { attempts: 1 }));
    expect(stage.server.arrivals).toHaveLength(3);
    const second = startProcess({}, { attempts: 1 });
    expect(await run(second)).toEqual(first);
    expect(stage.server.arrivals).toHaveLength(3);
    expect(paid).toHaveLength(2);
    expect(drifts(second)).toEqual([]);
  });
});

test("equal requests at once: one fails, the other keeps its answer, and a rerun with the other alone has it", async () => {
  stage.server.script({ act: "status", status: 503 }, { act: "say", saying: { text: "yes" } });
  const first = startProcess({}, { attempts: 1 });
  const said = await inJob(first, () =>
    Promise.all([1, 2].map(() => ask(first, "Shall I?").catch(() => "failed"))),
  );
  expect(said.sort()).toEqual(["failed", "yes"]);
  const second = startProcess();
  expect(await inJob(second, () => ask(second, "Shall I?"))).toBe("yes");
  expect(stage.server.arrivals).toHaveLength(2);
});

test("equal requests at once, one made again after it failed: a rerun asks nothing", async () => {
  stage.server.script({ act: "status", status: 503 });
  const twice = (process: Process) =>
    inJob(process, () =>
      Promise.all([1, 2].map(() => ask(process, "Roll").catch(() => ask(process, "Roll")))),
    );
  const first = await twice(startProcess({}, { attempts: 1 }));
  expect(new Set(first).size).toBe(2);
  expect(stage.server.arrivals).toHaveLength(3);
  expect((await twice(startProcess())).sort()).toEqual(first.sort());
  expect(stage.server.arrivals).toHaveLength(3);
});

describe("a stream that is left early", () => {
  const SAID = { act: "say", saying: { text: "pay a lot and more" } } as const;

  test("is kept as far as it was read: who leaves at the same place is told the same", async () => {
    stage.server.script({ ...SAID, act: "stall", afterEvents: 5 });
    const first = startProcess();
    const head = await inJob(first, () => askBriefly(first, "Hi"));
    const second = startProcess();
    expect(await inJob(second, () => askBriefly(second, "Hi"))).toBe(head);
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("who reads on is told that there is no more, and gets a new answer when it asks again", async () => {
    stage.server.script({ ...SAID, act: "stall", afterEvents: 5 });
    const first = startProcess();
    await inJob(first, () => askBriefly(first, "Hi"));
    for (let run = 0; run < 2; run += 1) {
      const later = startProcess();
      await inJob(later, async () => {
        await expect(askStreamed(later, "Hi")).rejects.toBeInstanceOf(ResultLostError);
        expect(await askStreamed(later, "Hi")).toBe("answer 2");
      });
    }
    expect(stage.server.arrivals).toHaveLength(2);
  });

  test("of Anthropic, too", async () => {
    const first = () => {
      const hf = stage.another();
      const client = ownAnthropic(
        new Anthropic({ baseURL: stage.server.anthropic, apiKey: "k" }),
        hf,
        { record: true },
      );
      return stage.pass(
        hf.scope("job", async () => {
          const stream = await client.messages.create({
            model: "claude-test",
            max_tokens: 100,
            messages: [{ role: "user", content: "Hi" }],
            stream: true,
          });
          for await (const event of stream) {
            if (event.type === "content_block_delta") return event.delta;
          }
          return undefined;
        }),
      );
    };
    stage.server.script({ ...SAID, act: "stall", afterEvents: 4 });
    const head = await first();
    expect(head).toBeDefined();
    expect(await first()).toEqual(head);
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test("before its first event is not kept", async () => {
    const leave = async ({ client }: Process) => {
      const asked = client.responses.create({ model: MODEL, input: "Hi", stream: true });
      await (await asked.asResponse()).body?.cancel();
    };
    const process = startProcess();
    await inJob(process, () => leave(process));
    expect(await inJob(process, () => askStreamed(process, "Hi"))).toBe("answer 2");
  });
});

describe("two runs of one step at once", () => {
  /** Both ask before either is answered. */
  async function race(asks: Asks): Promise<readonly PromiseSettledResult<string>[]> {
    const processes = [startProcess(), startProcess()];
    const running = processes.map((process) =>
      process.hf.scope("job", () => branch(process, "only", asks)),
    );
    return stage.pass(Promise.allSettled(running));
  }

  test("both go on with the answer that was kept first: one payment", async () => {
    const [one, other] = await race(ask);
    expect(one).toEqual(other);
    expect(new Set(paid).size).toBe(1);
  });

  test("a stream that another run was faster with ends with an error, not with its own answer", async () => {
    const ended = await race(askStreamed);
    const failed = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(new Set(paid).size).toBe(1);
    for (const error of failed) expect(error).toBeInstanceOf(LeaseLostError);
    const later = startProcess();
    await inJob(later, () => branch(later, "only", askStreamed));
    expect(new Set(paid).size).toBe(1);
    expect(stage.server.arrivals.length).toBeLessThanOrEqual(2);
  });

  test("of one name with two prompts each gets the answer to its own", async () => {
    const options = { step: () => "decide" };
    const processes = [startProcess({}, options), startProcess({}, options)];
    stage.server.usually({ act: "say" });
    const said = await stage.pass(
      Promise.all(
        processes.map((process, n) => process.hf.scope("job", () => ask(process, `prompt ${n}`))),
      ),
    );
    const inputs = stage.server.arrivals.map(({ body }) => body?.input);
    expect(said.map((text) => inputs[Number(text.slice("answer ".length)) - 1])).toEqual([
      "prompt 0",
      "prompt 1",
    ]);
    expect(processes.flatMap(drifts)).toHaveLength(1);
  });
});

describe("a loop whose model calls a guarded tool", () => {
  const PAY = { tool: "pay", args: { what: "p1" } };
  const thread = "conversation-7";
  const question = [{ role: "user" as const, content: "Pay p1" }];
  const parameters = { type: "object", properties: { what: { type: "string" } } } as const;

  async function withOpenAI({ client, pay }: Process): Promise<unknown> {
    const tools = [{ type: "function" as const, function: { name: "pay", parameters } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [...question];
    for (;;) {
      const completion = await client.chat.completions.create({ model: MODEL, messages, tools });
      const results = await runOpenAI(completion, [pay], { thread, messages });
      const [choice] = completion.choices;
      if (results.length === 0 || !choice) return choice?.message.content;
      messages.push(choice.message, ...results);
    }
  }

  async function withAnthropic({ hf, pay }: Process): Promise<unknown> {
    const raw = new Anthropic({ baseURL: stage.server.anthropic, apiKey: "k" });
    const client = ownAnthropic(raw, hf, { record: true });
    const tools = [{ name: "pay", input_schema: parameters }];
    const messages: Anthropic.MessageParam[] = [...question];
    for (;;) {
      const asked = { model: MODEL, max_tokens: 100, messages, tools };
      const message = await client.messages.create(asked);
      const results = await runAnthropic(message, [pay], { thread, messages });
      if (results.length === 0) return message.content;
      messages.push({ role: "assistant", content: message.content }, ...results);
    }
  }

  test.each([
    ["openai", withOpenAI],
    ["anthropic", withAnthropic],
  ])("is replayed whole, though the tool's result is told in other words: %s", async (_, loop) => {
    stage.server.script({ act: "say", saying: PAY }, { act: "say", saying: { text: "Paid." } });
    const first = startProcess();
    const said = await inJob(first, () => loop(first));
    const second = startProcess();
    expect(await inJob(second, () => loop(second))).toEqual(said);
    expect(paid).toEqual(["p1"]);
    expect(stage.server.arrivals).toHaveLength(2);
  });
});

describe("another prompt", () => {
  const inTurn = (options: OwnOptions) => async () => {
    const process = startProcess({}, options);
    const said = [];
    for (const prompt of ["Hi", "Hello", "Hi"]) {
      said.push(await inJob(process, () => ask(process, prompt)));
    }
    expect(said).toEqual(["answer 1", "answer 2", "answer 1"]);
    return drifts(process).length;
  };

  test("under the caller's own step is told as drift", async () => {
    expect(await inTurn({ step: () => "greet" })()).toBe(1);
  });

  test("without a step is another step, and no drift", async () => {
    expect(await inTurn({})()).toBe(0);
  });
});
