/** Two tools of one name with the same arguments are two tools; one that is built per request is one. */
import { dynamicTool, jsonSchema } from "ai";
import { describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { guardTools } from "../../src/integrations/ai/index.ts";
import { commandTool } from "../../src/integrations/command/index.ts";
import type { Change } from "../../src/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const SCOPE = { scope: "conversation-7/turn-3" };
const ANA = { to: "ana", text: "Your order has left." };
type Note = typeof ANA;

const open = (): Holdfire =>
  createHoldfire({ app: "shop", store: memoryStore({ forgets: "accepted" }) });

const slackTool = (hf: Holdfire, sent: string[], service?: string) =>
  hf.tool({
    name: "notify",
    kind: "write",
    service,
    run: ({ to }: Note) => sent.push(`slack ${to}`),
  });

const mailTool = (hf: Holdfire, sent: string[]) =>
  hf.tool({
    name: "notify",
    kind: "write",
    run: async ({ to }: Note) => {
      sent.push(`mail ${to}`);
    },
  });

describe("two tools named notify with the same arguments", () => {
  test("the second is a conflict, not the answer of the first", async () => {
    const hf = open();
    const sent: string[] = [];
    expect(await slackTool(hf, sent).outcome(ANA, SCOPE)).toMatchObject({ status: "committed" });
    const mail = mailTool(hf, sent);
    expect(await mail.outcome(ANA, SCOPE)).toMatchObject({
      status: "conflict",
      reason: "other_tool",
      replayed: false,
    });
    await expect(mail(ANA, SCOPE)).rejects.toMatchObject({ code: "ERR_HOLDFIRE_KEY_CONFLICT" });
    expect((await mail.reply(ANA, SCOPE)).message).toContain("Another tool of this name");
    expect(sent).toEqual(["slack ana"]);
  });

  test("also while the first is under way", async () => {
    const hf = open();
    const sent: string[] = [];
    const first = slackTool(hf, sent).outcome(ANA, SCOPE);
    const second = mailTool(hf, sent).outcome(ANA, SCOPE);
    expect(await second).toMatchObject({ status: "conflict", reason: "other_tool" });
    expect(await first).toMatchObject({ status: "committed" });
  });

  test("also after a caller that gave up, when the one who waited with it has made the call", async () => {
    const hf = open();
    const sent: string[] = [];
    const slack = slackTool(hf, sent);
    const stop = new AbortController();
    const first = slack.outcome(ANA, { ...SCOPE, signal: stop.signal });
    const second = slack.outcome(ANA, SCOPE);
    stop.abort();
    await first;
    expect(await second).toMatchObject({ status: "committed" });
    const mail = mailTool(hf, sent);
    expect(await mail.outcome(ANA, SCOPE)).toMatchObject({ reason: "other_tool" });
    expect(sent).toEqual(["slack ana"]);
  });

  test("also when the one who waited had to start it anew", async () => {
    const inner = memoryStore({ forgets: "accepted" });
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    // The first claim is answered once its caller has left.
    const swap = async (change: Change) => {
      if (isHeld) await answered;
      return inner.swap(change);
    };
    let isHeld = false;
    const hf = createHoldfire({ app: "shop", store: { ...inner, swap } });
    const sent: string[] = [];
    const slack = slackTool(hf, sent);
    await slack(ANA, { scope: "turn-1" });
    isHeld = true;
    const stop = new AbortController();
    const first = slack.outcome(ANA, { ...SCOPE, signal: stop.signal });
    await undefined;
    stop.abort();
    const second = slack.outcome(ANA, SCOPE);
    isHeld = false;
    answer();
    expect(await first).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect(await second).toMatchObject({ status: "committed" });
    const mail = mailTool(hf, sent);
    expect(await mail.outcome(ANA, SCOPE)).toMatchObject({ reason: "other_tool" });
    expect(sent).toEqual(["slack ana", "slack ana"]);
  });

  test("a reconcile that only lists an operation does not make it the other's", async () => {
    const store = memoryStore({ forgets: "accepted" });
    const sent: string[] = [];
    const lost = createHoldfire({ app: "shop", store }).tool({
      name: "notify",
      kind: "write",
      keyed: { forMs: 3_600_000 },
      attempts: 1,
      run: (_: Note, { key }) => Promise.reject(new Error(`the reply to ${key} is lost`)),
    });
    expect(await lost.outcome(ANA, SCOPE)).toMatchObject({ status: "unknown" });
    const hf = createHoldfire({ app: "shop", store });
    const slack = hf.tool({
      name: "notify",
      kind: "write",
      keyed: { forMs: 3_600_000 },
      run: ({ to }: Note, { key }) => sent.push(`slack ${to} ${key.length}`),
    });
    mailTool(hf, sent);
    await hf.reconcile();
    expect(await slack.outcome(ANA, SCOPE)).toMatchObject({ status: "committed" });
    expect(sent).toEqual(["slack ana 36"]);
  });

  test("also when only the service differs", async () => {
    const hf = open();
    const sent: string[] = [];
    await slackTool(hf, sent, "slack-eu")(ANA, SCOPE);
    const us = slackTool(hf, sent, "slack-us");
    expect(await us.outcome(ANA, SCOPE)).toMatchObject({ status: "conflict" });
    // Another scope is another operation.
    expect(await us.outcome(ANA, { scope: "turn-4" })).toMatchObject({ status: "committed" });
  });

  test("also of a framework, where both run in one wrapper", async () => {
    const hf = open();
    const sent: string[] = [];
    const inputSchema = jsonSchema<Note>({ type: "object" });
    const executes = [
      async () => sent.push("slack"),
      async () => {
        sent.push("mail");
      },
    ];
    const outcomes: unknown[] = [];
    for (const execute of executes) {
      const notify = dynamicTool({ inputSchema, execute });
      const tools = guardTools({ notify }, hf, { notify: { kind: "write" } }, SCOPE);
      const call = { toolCallId: "c1", messages: [], context: {} };
      const reply = await tools.notify.execute?.(ANA, call as never);
      outcomes.push((reply as { outcome: string }).outcome);
    }
    expect(outcomes).toEqual(["committed", "conflict"]);
  });

  test("also of two programs", async () => {
    const hf = open();
    const tool = (file: string) =>
      hf.tool({ name: "notify", kind: "write", ...commandTool<Note>({ file, args: [] }) });
    expect(await tool("true").outcome(ANA, SCOPE)).toMatchObject({ status: "committed" });
    expect(await tool("echo").outcome(ANA, SCOPE)).toMatchObject({ status: "conflict" });
  });

  test("reconcile does not ask the reader of the one about the other", async () => {
    const hf = open();
    const asked: string[] = [];
    const lose = (): never => {
      throw new Error("reset");
    };
    const first = hf.tool({
      name: "notify",
      kind: "write",
      run: (_: Note) => lose(),
      readState: () => {
        asked.push("slack");
        throw new Error("down");
      },
    });
    expect(await first.outcome(ANA, SCOPE)).toMatchObject({ status: "unknown" });
    hf.tool({
      name: "notify",
      kind: "write",
      run: async (_: Note) => "mail",
      readState: () => {
        asked.push("mail");
        throw new Error("down");
      },
    });
    expect((await hf.reconcile()).skipped.noTool).toEqual({ notify: 1 });
    expect(asked).not.toContain("mail");
  });
});

describe("a tool that is built per request", () => {
  test("goes on working: each closure is of one source", async () => {
    const hf = open();
    const sent: string[] = [];
    const replayed: boolean[] = [];
    for (const _ of [1, 2, 3]) {
      replayed.push((await slackTool(hf, sent).outcome(ANA, SCOPE)).replayed);
    }
    expect(replayed).toEqual([false, true, true]);
    expect(sent).toEqual(["slack ana"]);
  });

  test("one that was stopped before it was sent leaves the call to another", async () => {
    const hf = open();
    const sent: string[] = [];
    const signal = AbortSignal.abort();
    const stopped = await slackTool(hf, sent).outcome(ANA, { ...SCOPE, signal });
    expect(stopped).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect(await mailTool(hf, sent).outcome(ANA, SCOPE)).toMatchObject({ status: "committed" });
    expect(sent).toEqual(["mail ana"]);
  });

  test("a new release, in another process, is answered from the ledger", async () => {
    const store = memoryStore({ forgets: "accepted" });
    const [old, fresh] = [1, 2].map(() => createHoldfire({ app: "shop", store }));
    const sent: string[] = [];
    await slackTool(old as Holdfire, sent)(ANA, SCOPE);
    const outcome = await mailTool(fresh as Holdfire, sent).outcome(ANA, SCOPE);
    expect(outcome).toMatchObject({ status: "committed", replayed: true });
  });
});
