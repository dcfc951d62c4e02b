import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  RunState,
  type Tool,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AgentTurnOptions,
  attemptOf,
  guardTool,
  statusTool,
} from "../../../src/integrations/openai-agents/index.ts";
import {
  type AdapterSetup,
  adapterContract,
  PAY_SCHEMA,
  type PayArguments,
} from "../../../src/testing/adapter-contract.ts";
import type { ModelServer } from "../../servers/model-server.ts";
import {
  envelopes,
  modelSaying,
  openHoldfire,
  rulesOf,
  saying,
  shownTool,
  toolTexts,
} from "../shared/scripted.ts";

interface Chat {
  readonly chat: string;
  readonly input: string;
}

const PAY = { tool: "pay", args: { paymentId: "p1", amount: 400 } };
const AGAIN = { tool: "pay", args: '{"note":"please","amount":400.0,"paymentId":"p1"}' };
const BY_CHAT: AgentTurnOptions = {
  thread: ({ context }) => context.chat,
  messages: ({ context }) => context.input,
};

const runner = new Runner({ tracingDisabled: true });
const clientOf = ({ openai }: ModelServer) =>
  new OpenAI({ apiKey: "x", baseURL: openai, maxRetries: 0 }) as never;
const chatOf = (server: ModelServer) => new OpenAIChatCompletionsModel(clientOf(server), "m");
const responsesOf = (server: ModelServer) => new OpenAIResponsesModel(clientOf(server), "m");

const agentOf = (model: ReturnType<typeof chatOf | typeof responsesOf>, ...tools: Tool<Chat>[]) =>
  new Agent<Chat>({ name: "clerk", instructions: "x", model, tools });

const guardedDefinition = ({ hf, definition }: Omit<AdapterSetup, "call">) =>
  guardTool(
    {
      name: "pay",
      description: "Pays.",
      parameters: PAY_SCHEMA as never,
      strict: false,
      execute: (input: unknown, _: unknown, details: unknown) =>
        definition.run(input as PayArguments, attemptOf(details)),
    },
    hf,
    rulesOf(definition),
    BY_CHAT,
  );

const contractTool = (setup: AdapterSetup) =>
  tool(guardedDefinition(setup) as never) as unknown as Tool<Chat>;

const driven =
  (modelOf: typeof chatOf | typeof responsesOf, stream: boolean) => async (setup: AdapterSetup) => {
    const { toolCallId: id, args, scope, signal } = setup.call;
    const server = await saying({ tool: "pay", args, id });
    try {
      const agent = agentOf(modelOf(server), contractTool(setup));
      const context = { chat: "conversation-7", input: scope };
      const stop = signal ? { signal } : {};
      if (stream) {
        const streamed = await runner.run(agent, scope, { context, stream: true, ...stop });
        for await (const _ of streamed);
        await streamed.completed;
      } else {
        await runner.run(agent, scope, { context, ...stop });
      }
      return { text: toolTexts(server)[0] ?? "" };
    } finally {
      await server.close();
    }
  };

adapterContract("openai-agents: chat", {
  drive: driven(chatOf, false),
  hand(setup) {
    const { execute } = guardedDefinition(setup);
    return async ({ args, messages: input, toolCallId: callId }) =>
      execute(args, { context: { chat: "conversation-7", input } }, { toolCall: { callId } });
  },
});
adapterContract("openai-agents: responses, streamed", { drive: driven(responsesOf, true) });

const parameters = z.object({
  paymentId: z.string(),
  amount: z.number(),
  note: z.string().nullish(),
});
const rules = {
  kind: "write",
  intent: ({ paymentId, amount }: Pick<PayArguments, "paymentId" | "amount">) => ({
    paymentId,
    amount,
  }),
  alsoDoes: ["e-mails the payee"],
} as const;

function counted({ lost = 0, more = {} as object, options = BY_CHAT } = {}) {
  const hf = openHoldfire();
  const paid: { readonly key: string }[] = [];
  const definition = {
    name: "pay",
    description: "Pays.",
    parameters,
    execute: async (_: z.infer<typeof parameters>, __: unknown, details: unknown) => {
      paid.push({ key: attemptOf(details).key });
      if (paid.length <= lost) throw new TypeError("fetch failed");
      return { id: `po_${paid.length}` };
    },
    ...more,
  };
  const pay = tool(guardTool(definition, hf, rules, options)) as unknown as Tool<Chat>;
  return { hf, paid, pay, definition };
}

const ask = (server: ModelServer, given: Tool<Chat>, input = "Pay p1", chat = "a") =>
  runner.run(agentOf(chatOf(server), given), input, { context: { chat, input } });

describe("one request of a person", () => {
  it("a run started again as a whole has one effect", async () => {
    const { pay, paid } = counted();
    for (const _ of [1, 2]) await ask(await modelSaying(PAY), pay);
    expect(paid).toHaveLength(1);
  });

  it("the model repeats the call with a new id and reordered arguments: one effect", async () => {
    const { pay, paid } = counted();
    const server = await modelSaying(PAY, AGAIN);
    await ask(server, pay);
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([
      { ok: true, replayed: false, data: { id: "po_1" } },
      { ok: true, replayed: true, effect: "noop", data: { id: "po_1" } },
    ]);
  });

  it("two identical calls at once: one effect, and both are answered", async () => {
    const { pay, paid } = counted();
    const server = await modelSaying({ calls: [PAY, PAY] });
    await ask(server, pay);
    expect(paid).toHaveLength(1);
    expect(envelopes(server).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it("what the function threw is not taken for its result", async () => {
    const { pay, paid } = counted({ lost: 1 });
    const server = await modelSaying(PAY, AGAIN);
    await ask(server, pay);
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ outcome: "unknown" }, { outcome: "unknown" }]);
  });

  it("a state that is approved and resumed twice: one effect", async () => {
    const { pay, paid } = counted({ more: { needsApproval: true } });
    const server = await modelSaying(PAY);
    const agent = agentOf(chatOf(server), pay);
    const asked = await runner.run(agent, "Pay p1", { context: { chat: "a", input: "Pay p1" } });
    expect({ paid: paid.length, asked: asked.interruptions.length }).toEqual({ paid: 0, asked: 1 });
    const kept = asked.state.toString();
    for (const _ of [1, 2]) {
      const state = await RunState.fromString<Chat, typeof agent>(agent, kept);
      for (const interruption of state.getInterruptions()) state.approve(interruption);
      await runner.run(agent, state);
    }
    expect(paid).toHaveLength(1);
    expect(envelopes(server)).toMatchObject([{ replayed: true, data: { id: "po_1" } }]);
  });

  it("the SDK's own timeout tells the model nothing new: the record answers the next call", async () => {
    const hf = openHoldfire();
    let paid = 0;
    let finish = () => {};
    const slow = {
      name: "pay",
      description: "Pays.",
      parameters,
      timeoutMs: 5,
      execute: async () => {
        paid += 1;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { id: "po_1" };
      },
    };
    const pay = tool(guardTool(slow, hf, rules, BY_CHAT)) as unknown as Tool<Chat>;
    const server = await modelSaying(PAY, AGAIN);
    await ask(server, pay);
    expect(paid).toBe(1);
    finish();
    const patient = { ...slow, timeoutMs: undefined };
    const again = tool(guardTool(patient, hf, rules, BY_CHAT) as never) as unknown as Tool<Chat>;
    const next = await modelSaying(PAY);
    await ask(next, again);
    expect(paid).toBe(1);
    expect(envelopes(next)).toMatchObject([{ ok: true, data: { id: "po_1" } }]);
  });

  it("arguments that do not fit reach nobody and leave nothing behind", async () => {
    const { pay, paid, hf } = counted();
    await ask(await modelSaying({ tool: "pay", args: { paymentId: 7 } }), pay);
    expect(paid).toHaveLength(0);
    expect((await hf.operations.list()).items).toEqual([]);
  });
});

describe("two requests", () => {
  it("asked again, it happens again; another chat is another request", async () => {
    const { pay, paid, hf, definition } = counted();
    const said = [{ role: "user", content: "Pay p1" }];
    const twice = guardTool(definition, hf, rules, { thread: "a", messages: [...said, ...said] });
    await ask(await modelSaying(PAY), pay);
    for (const _ of [1, 2]) {
      await ask(await modelSaying(PAY), tool(twice) as unknown as Tool<Chat>);
    }
    expect(paid).toHaveLength(2);
    await ask(await modelSaying(PAY), pay, "Pay p1", "b");
    expect(new Set(paid.map(({ key }) => key)).size).toBe(3);
  });
});

describe("where the scope comes from", () => {
  it("the scope itself may stand in the context, and hf.scope is enough", async () => {
    const { pay, paid } = counted({ options: { scope: ({ context }) => context.chat } });
    await ask(await modelSaying(PAY), pay, "Pay p1", "turn-1");
    await ask(await modelSaying(PAY), pay, "Pay p1, please", "turn-1");
    expect(paid).toHaveLength(1);
    const bare = counted({ options: {} });
    for (const words of ["Pay", "Pay p1"]) {
      const server = await modelSaying(PAY);
      await bare.hf.scope("job-1", () => ask(server, bare.pay, words));
    }
    expect(bare.paid).toHaveLength(1);
  });

  it("without anything stable nothing is paid, and the line is named", async () => {
    const { paid, pay } = counted({ options: {}, more: { errorFunction: null } });
    await expect(ask(await modelSaying(PAY), pay)).rejects.toThrow(/to guardTool/);
    expect(paid).toHaveLength(0);
  });

  it("a tool that is made already is refused", () => {
    const { hf, pay } = counted();
    expect(() => guardTool(pay as never, hf, "write")).toThrow(/what tool\(\) is given/);
  });
});

describe("what the model sees", () => {
  it("idempotency_key is hidden and filled, and alsoDoes is told", async () => {
    const hf = openHoldfire();
    const got: unknown[] = [];
    const definition = {
      name: "send",
      description: "Sends.",
      parameters: z.object({ to: z.string(), idempotency_key: z.string().min(30) }),
      execute: async (input: unknown) => {
        got.push(input);
        return "sent";
      },
    };
    const own = { kind: "write" as const, keyed: { forMs: 60_000 }, alsoDoes: ["rings a bell"] };
    const send = tool(guardTool(definition, hf, own, BY_CHAT)) as unknown as Tool<Chat>;
    const server = await modelSaying({ tool: "send", args: { to: "ana" } });
    await ask(server, send);
    const { schema, description } = shownTool(server);
    expect(Object.keys(schema.properties)).toEqual(["to"]);
    expect(description).toBe("Sends.\nIt also rings a bell.");
    const { items } = await hf.operations.list();
    expect(got).toEqual([{ to: "ana", idempotency_key: items[0]?.key }]);
  });

  it("looks up what became of a call", async () => {
    const { hf, pay } = counted({ lost: 1 });
    const server = await modelSaying(PAY);
    await ask(server, pay);
    const question = {
      tool: "operation_status",
      args: { operation: envelopes(server)[0]?.operation ?? "" },
    };
    const status = tool(statusTool(hf, BY_CHAT) as never) as unknown as Tool<Chat>;
    const model = await modelSaying(question);
    await ask(model, status, "And?");
    expect(envelopes(model)).toMatchObject([{ ok: false, outcome: "unknown" }]);
  });
});
