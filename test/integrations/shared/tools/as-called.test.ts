/** What a caller gives is what it was when the call was made; the contract's `handed` scenarios have the arguments and the turn. */
import { jsonSchema } from "ai";
import { describe, expect, it } from "vitest";
import { guardTools as guardAiTools } from "../../../../src/integrations/ai/index.ts";
import { guardTools, runToolCalls } from "../../../../src/integrations/anthropic/index.ts";
import {
  guardFunction,
  statusCall,
} from "../../../../src/integrations/shared/tools/guard-function.ts";
import { keyNamesOf } from "../../../../src/integrations/shared/tools/hidden-key.ts";
import type { ToolRules } from "../../../../src/integrations/shared/tools/rules.ts";
import { findTurn, inTurn } from "../../../../src/integrations/shared/tools/turn.ts";
import { openHoldfire } from "../scripted.ts";

const CLICKS = ["click-1", "click-2", "click-3"];
const SCHEMA = {
  type: "object",
  properties: { to: { type: "string" }, idempotency_key: { type: "string" } },
} as const;
const PLAIN = { type: "object", properties: { to: { type: "string" } } } as const;

/** One tool of the runner, whose clicks stand in a variable. */
function clicked(more: object = {}, hf = openHoldfire()) {
  const sent: unknown[] = [];
  let click: string | undefined;
  const own = {
    name: "mail",
    input_schema: SCHEMA,
    run: async (args: { to: string }) => void sent.push(args.to),
    ...more,
  };
  const tools = guardTools([own], hf, { mail: { kind: "write", again: () => click } }, SCOPE);
  return { sent, tools, click: (now: string) => (click = now) };
}

const SCOPE = { scope: "s" };
const using = (input: object, id = "c1") => ({
  content: [{ type: "tool_use", id, name: "mail", input }],
});

describe("again", () => {
  it("is asked when the call is made, whatever is waited for then", async () => {
    const { sent, tools, click } = clicked();
    await Promise.all(
      CLICKS.map((now) => {
        click(now);
        return tools[0].run({ to: "ana" });
      }),
    );
    expect(sent).toHaveLength(3);
  });

  it("the same in a loop of one's own, where the check of the arguments takes no time", async () => {
    const { sent, tools, click } = clicked({ parse: (content: unknown) => content });
    await Promise.all(
      CLICKS.map((now) => {
        click(now);
        return runToolCalls(using({ to: "ana" }), tools, SCOPE);
      }),
    );
    expect(sent).toHaveLength(3);
  });

  it("the same where the schema is still to come; a key that the model wrote does not reach it", async () => {
    const seen: unknown[] = [];
    let click: string | undefined;
    const again = (args: unknown) => {
      seen.push(args);
      return click;
    };
    const rules: ToolRules = { kind: "write", again };
    const pay = guardFunction<undefined>(openHoldfire(), {
      name: "pay",
      rules,
      keys: () => Promise.resolve(keyNamesOf(SCHEMA)),
      line: "",
      execute: () => "paid",
    });
    const replies = CLICKS.map((now) => {
      click = now;
      return pay({ to: "ana", idempotency_key: now }, { ...SCOPE, context: undefined });
    });
    const told = await Promise.all(replies);
    expect(told.map(({ replayed }) => replayed)).toEqual([false, false, false]);
    expect(seen).toEqual([{ to: "ana" }, { to: "ana" }, { to: "ana" }]);
  });

  it("the same with a schema of the AI SDK's own kind", async () => {
    let click: string | undefined;
    let sent = 0;
    const mail = { inputSchema: jsonSchema(SCHEMA as never), execute: async () => ++sent };
    const rules = { mail: { kind: "write", again: () => click } } as const;
    const tools = guardAiTools({ mail }, openHoldfire(), rules, SCOPE);
    await Promise.all(
      CLICKS.map((now) => {
        click = now;
        return tools.mail.execute?.({}, { toolCallId: `c-${now}`, messages: [], context: {} });
      }),
    );
    expect(sent).toBe(3);
  });
});

describe("a loop of one's own", () => {
  it("whose tool checks for a while answers the calls and the turn that it was given", async () => {
    const hf = openHoldfire();
    const later = (content: unknown) => new Promise((resolve) => setImmediate(resolve, content));
    const { sent, tools } = clicked({ parse: later, input_schema: PLAIN }, hf);
    const input = { to: "ana" };
    const turn = { thread: "t", turn: "1" };
    const answered = runToolCalls(using(input), tools, turn);
    input.to = "ben";
    turn.turn = "2";
    await answered;
    expect(sent).toEqual(["ana"]);
    const [again] = await runToolCalls(using({ to: "ana" }), tools, { thread: "t", turn: "1" });
    expect(JSON.parse(String(again?.content[0]?.content))).toMatchObject({ replayed: true });
  });

  it("gives the check of a tool arguments that it may change", async () => {
    const parse = (content: unknown) => Object.assign(content as object, { to: "ben" });
    const { sent, tools } = clicked({ parse, input_schema: PLAIN });
    const input = { to: "ana" };
    await runToolCalls(using(input), tools, SCOPE);
    expect({ sent, input }).toEqual({ sent: ["ben"], input: { to: "ana" } });
  });

  it("takes arguments that are proxies, as those of a reactive store", async () => {
    const { sent, tools } = clicked({ parse: (content: unknown) => content });
    await runToolCalls(using(new Proxy({ to: "ana" }, {})), tools, SCOPE);
    expect(sent).toEqual(["ana"]);
  });
});

it("one object of options, changed from call to call: each function gets its own call's", async () => {
  const ids: unknown[] = [];
  const mail = {
    inputSchema: jsonSchema(SCHEMA as never),
    execute: async (_: unknown, { toolCallId }: { toolCallId: string }) => ids.push(toolCallId),
  };
  const tools = guardAiTools({ mail }, openHoldfire(), { mail: "write" }, SCOPE);
  const options = { toolCallId: "", messages: [], context: {} };
  await Promise.all(
    ["ana", "ben", "eve"].map((to) => {
      options.toolCallId = `call-for-${to}`;
      return tools.mail.execute?.({ to }, options);
    }),
  );
  expect(ids.sort()).toEqual(["call-for-ana", "call-for-ben", "call-for-eve"]);
});

it("a question to the status tool is what it was when it was asked", async () => {
  const hf = openHoldfire();
  const mail = hf.tool({ name: "mail", kind: "write", run: async () => "sent" });
  const turn = { thread: "t", messages: "Mail ana." };
  const { operation = "" } = await inTurn(turn, { tool: "mail", line: "" }, (scope) =>
    mail.reply({}, { scope }),
  );
  const question = { operation };
  const told = statusCall(hf.statusTool(), question, turn, "");
  question.operation = "another";
  expect(await told).toMatchObject({ outcome: "committed" });
});

describe("a turn that was found", () => {
  it("is that of the messages as they were", async () => {
    const messages = [{ role: "user", content: "Pay." }];
    const where = { tool: "pay", line: "" };
    const scopeOf = (turn: object) => inTurn(turn, where, (scope) => scope);
    const found = findTurn({ thread: "t", messages });
    messages.push({ role: "user", content: "And hurry." });
    const before = await scopeOf(found);
    expect(before).toBe(await scopeOf({ thread: "t", messages: messages.slice(0, 1) }));
    expect(before).not.toBe(await scopeOf({ thread: "t", messages }));
  });

  it("fails only where it is used", async () => {
    const found = findTurn({ thread: "", messages: "Pay." });
    await new Promise(setImmediate);
    await expect(inTurn(found, { tool: "pay", line: "" }, () => 1)).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
    });
  });
});
