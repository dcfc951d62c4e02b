import { describe, expect, test } from "vitest";
import { slackMessage } from "../../src/recipes/messages/slack.ts";
import { type FakeAnswer, type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly ts: string;
  readonly text: string;
  readonly thread_ts?: string | undefined;
  readonly metadata?: unknown;
}

/** Slack as documented: it says no inside a 200, and gives metadata only to those who ask for it. */
async function open({ clock }: Stage, error?: string) {
  const kept: Kept[] = [];
  const add = (json: Readonly<Record<string, unknown>>): Kept => {
    const ts = `${Math.floor(clock.now() / 1_000)}.${String(kept.length + 1).padStart(6, "0")}`;
    const { text, thread_ts, metadata } = json as unknown as Kept;
    kept.unshift({ ts, text, thread_ts, metadata });
    return { ts, text };
  };
  const list = ({ path, query }: FakeRequest): FakeAnswer => {
    const oldest = Number(query.get("oldest") ?? 0);
    const isWanted = path.endsWith("replies")
      ? ({ thread_ts }: Kept) => thread_ts === query.get("ts")
      : ({ thread_ts }: Kept) => thread_ts === undefined;
    const all = kept.filter((one) => Number(one.ts) > oldest && isWanted(one));
    const from = Number(query.get("cursor") ?? 0);
    const size = Number(query.get("limit"));
    const messages = all
      .slice(from, from + size)
      .map(({ metadata, ...rest }) =>
        query.get("include_all_metadata") === "true" ? { ...rest, metadata } : rest,
      );
    const next_cursor = all.length > from + size ? `${from + size}` : "";
    return { body: { ok: true, messages, response_metadata: { next_cursor } } };
  };
  const fake = await startFake((request) => {
    if (request.headers.authorization !== "Bearer xoxb-1") return { body: { ok: false } };
    if (request.method === "GET") return list(request);
    if (error) return { body: { ok: false, error } };
    const { ts } = add(request.json ?? {});
    return { body: { ok: true, channel: request.json?.channel, ts } };
  });
  const definition = slackMessage({ authorization: "Bearer xoxb-1", baseUrl: fake.url });
  return { fake, kept, add, definition, effects: () => kept.length };
}

const ARGS = { channel: "C0123ABC", text: "The deploy is done." };

for (const [name, args] of [
  ["slackMessage", ARGS],
  ["slackMessage in a thread", { ...ARGS, thread_ts: "1700000000.000001" }],
] as const) {
  recipeContract(name, {
    licence: "absent",
    open: async (stage) => {
      const { add, ...rest } = await open(stage);
      const metadata = { event_type: "other_app", event_payload: { key: "1" } };
      return { ...rest, args, makeForeign: () => void add({ ...args, metadata }) };
    },
  });
}

test("a message below hundreds of others is found", async () => {
  const stage = openStage();
  const { fake, kept, add, definition } = await open(stage);
  const { readState } = definition;
  fake.lose("after");
  const tool = stage.tool({
    ...definition,
    readState: (query) => {
      if (kept.length === 1) for (let n = 0; n < 450; n += 1) add({ text: `${n}` });
      return readState?.(query) ?? Promise.reject(new Error("no reader"));
    },
  });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed" });
  expect(fake.reads).toHaveLength(3);
});

test("what another app says of our message is not our message", async () => {
  const stage = openStage();
  const { add, definition } = await open(stage);
  add({ text: "Seen.", metadata: { event_type: "message_seen", event_payload: { key: "k" } } });
  const reading = await definition.readState?.({
    intent: ARGS,
    key: "k",
    keys: ["k"],
    firstSentAt: stage.clock.now(),
    taken: async () => false,
    fetch: globalThis.fetch,
    signal: new AbortController().signal,
  });
  expect(reading).toEqual({ reading: "absent" });
});

test("a channel by its name can be written to, and is not guessed at", async () => {
  const stage = openStage();
  const { fake, definition } = await open(stage);
  fake.lose("after");
  const tool = stage.tool({ ...definition, commitsWithinMs: 1_000 });
  const outcome = await stage.call(tool, { ...ARGS, channel: "#general" });
  expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell", attempts: 1 });
  expect(fake.reads).toHaveLength(0);
});

describe("a no inside a 200", () => {
  test.each([
    "channel_not_found",
    "restricted_action",
    "restricted_action_read_only_channel",
    "metadata_too_large",
    "metadata_must_be_sent_from_app",
    "invalid_metadata_schema",
    "team_access_not_granted",
  ])("is a no where Slack looked before it posted: %s", async (error) => {
    const stage = openStage();
    const { definition } = await open(stage, error);
    const outcome = await stage.call(stage.tool(definition), ARGS);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected" });
  });

  test.each(["internal_error", "fatal_error", "something_new"])(
    "proves nothing: %s",
    async (error) => {
      const stage = openStage();
      const { definition, fake } = await open(stage, error);
      const outcome = await stage.call(stage.tool(definition), ARGS);
      expect(outcome).toMatchObject({ status: "unknown", reason: "absent_unproven" });
      expect(fake.writes).toHaveLength(1);
    },
  );
});

test("a history that has more, and no cursor, proves no absence", async () => {
  const stage = openStage();
  const fake = await startFake(({ method }) => ({
    body: method === "GET" ? { ok: true, messages: [], has_more: true } : { ok: true },
  }));
  fake.lose("after");
  const definition = slackMessage({ authorization: "Bearer x", baseUrl: fake.url });
  const tool = stage.tool({ ...definition, commitsWithinMs: 1_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", attempts: 1 });
  expect(fake.writes).toHaveLength(1);
});
