/**
 * A `run` that returns what a model was told of an operation inside it (a tool that is guarded twice, `inner.reply`) hands
 * that operation's failure up: it is no success of the outer one.
 */
import { tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Reply } from "../../src/engine/outcome/reply.ts";
import { guardTools } from "../../src/integrations/ai/index.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { type Order, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

const FORMS: Readonly<Record<string, (reply: object) => unknown>> = {
  "as it is": (reply) => reply,
  "as text": (reply) => JSON.stringify(reply),
  "as the result of an MCP tool": (reply) => ({
    content: [{ type: "text", text: JSON.stringify(reply) }],
    isError: true,
  }),
};

describe.each(Object.keys(FORMS))("a reply that is returned %s", (form) => {
  const opened = async () => {
    const world = await openWorld();
    const inner = world.order("neither");
    const run = async (args: Order) => FORMS[form]?.(await inner.reply(args));
    return { ...world, outer: world.hf.tool({ name: "outer", kind: "write", run }) };
  };

  test("of an unknown operation: unknown, partial", async () => {
    const { service, outer, pass } = await opened();
    service.plan(faults.commitThenReset());
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "partial" });
    const again = await pass(outer.reply(TEA, ONCE));
    expect(again).toMatchObject({ ok: false, outcome: "unknown" });
    expect(service.effects).toHaveLength(1);
  });

  test("of one that the service rejected: not applied", async () => {
    const { service, outer, pass } = await opened();
    service.plan(faults.status({ status: 404 }));
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied" });
  });

  test("of one that is done: committed", async () => {
    const { service, outer, pass } = await opened();
    expect(await pass(outer.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.effects).toHaveLength(1);
  });
});

test("what a service returns in the same form is its own", async () => {
  const { hf, order, pass } = await openWorld();
  const inner = order("neither");
  const theirs = { ok: false, outcome: "unknown", operation: "theirs", message: "no" };
  const run = async (args: Order) => {
    await inner(args);
    return theirs;
  };
  const outer = hf.tool({ name: "outer", kind: "write", run });
  const outcome = await pass(outer.outcome(TEA, ONCE));
  expect(outcome).toMatchObject({ status: "committed", result: theirs });
});

const OWN: Readonly<Record<string, (reply: object) => unknown>> = {
  "with a field more": (reply) => ({ ...reply, ticket: 7 }),
  "of a few of its fields": (reply) => {
    const { operation } = reply as Reply;
    return { ok: false, operation, note: "booked by hand" };
  },
  "as text, with a field more": (reply) => JSON.stringify({ ...reply, ticket: 7 }),
  "with another outcome": (reply) => ({ ...reply, outcome: "in_progress" }),
  "beside a field of an MCP tool's own": (reply) => ({
    content: [{ type: "text", text: JSON.stringify(reply) }],
    structuredContent: { ticket: 7 },
  }),
};

test.each(Object.entries(OWN))(
  "what `run` itself makes of a reply is its own: %s",
  async (_, of) => {
    const { hf, order, pass, service } = await openWorld();
    const inner = order("neither");
    const returned: unknown[] = [];
    const run = async (args: Order) => {
      returned.push(of(await inner.reply(args)));
      return returned[0];
    };
    const outer = hf.tool({ name: "outer", kind: "write", run });
    service.plan(faults.commitThenReset());
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", result: returned[0] });
  },
);

test("a tool of a framework that is guarded twice", async () => {
  const { hf, service, pass, track, heard } = await openWorld();
  const pay = tool({
    inputSchema: z.object({ payee: z.string() }),
    execute: async (payout) => {
      const body = JSON.stringify(payout);
      const response = await track(
        fetch(`${service.url}/neither/effects`, { method: "POST", body }),
      );
      return response.json();
    },
  });
  const turn = { thread: "chat-7" };
  const guarded = guardTools({ pay }, hf, { pay: "write" }, turn);
  const twice = guardTools(guarded as unknown as { pay: typeof pay }, hf, { pay: "write" }, turn);
  service.plan(faults.commitThenReset());
  const call = { toolCallId: "call_1", messages: [{ role: "user", content: "Pay." }] };
  const told = await pass(twice.pay.execute?.({ payee: "ana" }, call as never) as Promise<unknown>);
  expect(told).toMatchObject({ ok: false, outcome: "unknown" });
  expect(heard("outcome").map(({ status }) => status)).toEqual(["unknown", "unknown"]);
});
