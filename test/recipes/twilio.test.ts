import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { twilioMessage } from "../../src/recipes/messages/twilio.ts";
import { rememberingStore } from "../stores/remembering-store.ts";
import { startFake } from "./fake-service.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly sid: string;
  readonly to: string;
  readonly from: string;
  readonly body: string;
  readonly direction: string;
  readonly date_created: string;
  readonly date_sent: null;
  readonly status: string;
}

const ARGS = { to: "+15550002222", body: "Your code is 1234" };
const FROM = "+15550001111";

/** Twilio as documented: no key; a message in the queue has no date of sending; pages by token. */
async function open(
  { clock }: { readonly clock: Pick<Stage["clock"], "now"> },
  { soleSender = false, prefix = "", status = "queued", fetch = globalThis.fetch } = {},
) {
  const kept: Kept[] = [];
  const add = (to: string, body: string, direction = "outbound-api"): Kept => {
    const sid = `SM${kept.length + 1}`;
    const date_created = new Date(clock.now()).toUTCString();
    const made = { sid, to, from: FROM, body, direction, date_created, date_sent: null, status };
    kept.unshift(made);
    return made;
  };
  const fake = await startFake(({ method, text, path, query }) => {
    if (path !== "/2010-04-01/Accounts/AC1/Messages.json") return { status: 404 };
    const form = new URLSearchParams(text);
    if (method === "POST") {
      // A number is kept in one form, however it was written.
      const to = `+1${form.get("To")?.replaceAll(/\D/g, "").slice(-10)}`;
      return { status: 201, body: add(to, prefix + form.get("Body")) };
    }
    const all = kept.filter(({ to, from }) => to === query.get("To") && from === query.get("From"));
    const page = Number(query.get("Page") ?? 0);
    const size = Number(query.get("PageSize"));
    const next = `https://elsewhere.example${path}?Page=${page + 1}&PageToken=PT${page + 1}`;
    const next_page_uri = all.length > (page + 1) * size ? next : null;
    return { body: { messages: all.slice(page * size, (page + 1) * size), next_page_uri } };
  });
  const definition = twilioMessage({
    authorization: "Basic eDp5",
    baseUrl: fake.url,
    accountSid: "AC1",
    from: FROM,
    soleSender,
    fetch,
  });
  return { fake, kept, add, definition };
}

test("a message whose reply is lost stays unknown: one like it may be another's", async () => {
  const stage = openStage();
  const { fake, kept, definition } = await open(stage);
  fake.lose("after");
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, kept.length]).toEqual([1, 1]);
});

test("where no message is there, it is sent again in its time, and not without a window", async () => {
  const stage = openStage();
  const { fake, kept, definition } = await open(stage);
  fake.lose("before");
  const careful = stage.tool({ ...definition, name: "careful" });
  expect(await stage.call(careful, ARGS)).toMatchObject({ reason: "absent_unproven" });
  fake.lose("before");
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed", licence: "absent" });
  expect([fake.writes.length, kept.length]).toEqual([3, 1]);
});

test("another's message to this number is not taken for ours, nor sent past", async () => {
  const stage = openStage();
  const { fake, add, definition } = await open(stage);
  add(ARGS.to, ARGS.body);
  fake.lose("before");
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect(fake.writes).toHaveLength(1);
});

test("what another operation has, and what came in, is not in the way", async () => {
  const stage = openStage();
  const { fake, add, kept, definition } = await open(stage);
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
  await stage.call(tool, ARGS, "another-request");
  add(ARGS.to, ARGS.body, "outbound-reply");
  fake.lose("before");
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed", licence: "absent" });
  expect([fake.writes.length, kept.length]).toEqual([3, 3]);
});

describe("where nothing else sends from the number", () => {
  test("a message whose reply is lost is found", async () => {
    const stage = openStage();
    const { fake, kept, definition } = await open(stage, { soleSender: true });
    fake.lose("after");
    expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject({
      status: "committed",
      attempts: 1,
      result: { sid: "SM1" },
    });
    expect([fake.writes.length, kept.length]).toEqual([1, 1]);
  });

  test.each(["failed", "undelivered", "canceled"])(
    "a message that is %s is found, and not called done",
    async (status) => {
      for (const loss of ["after", undefined] as const) {
        const stage = openStage();
        const { fake, definition } = await open(stage, { soleSender: true, status });
        if (loss) fake.lose(loss);
        const outcome = await stage.call(stage.tool(definition), ARGS);
        const reason = loss ? "cannot_tell" : "unverified";
        expect(outcome).toMatchObject({ status: "unknown", reason, attempts: 1 });
        expect(fake.writes).toHaveLength(1);
      }
    },
  );

  test("two that no operation has belong to none", async () => {
    const stage = openStage();
    const { fake, definition } = await open(stage, { soleSender: true });
    fake.lose("twice");
    const outcome = await stage.call(stage.tool(definition), ARGS);
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  });

  test("the message of an equal call that is under way is not taken for this one's", async () => {
    let [arrive, release] = [() => {}, () => {}];
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: typeof globalThis.fetch = async (input, init) => {
      const answer = await fetch(input, init);
      arrive();
      if (init?.method === "POST") await released;
      return answer;
    };
    const world = { clock: systemClock };
    const { fake, kept, definition } = await open(world, { soleSender: true, fetch: slow });
    const hf = createHoldfire({ store: rememberingStore(Date.now) });
    onTestFinished(() => hf.close());
    const tool = hf.tool(definition);
    const first = tool.outcome(ARGS, { scope: "one" });
    await arrived;
    fake.lose("before");
    const second = await tool.outcome(ARGS, { scope: "two", deadlineMs: 200 });
    expect(second.status).not.toBe("committed");
    release();
    expect(await first).toMatchObject({ status: "committed", result: { sid: "SM1" } });
    expect(kept).toHaveLength(1);
  });

  test("words that Twilio changed are no reason to send again", async () => {
    const stage = openStage();
    const prefix = "Sent from your Twilio trial account - ";
    const { fake, definition } = await open(stage, { soleSender: true, prefix });
    fake.lose("after");
    const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
    expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", attempts: 1 });
  });
});

test("pages are followed at the service itself, wherever the answer points", async () => {
  const stage = openStage();
  const { fake, add, definition } = await open(stage, { soleSender: true });
  for (let n = 0; n < 250; n += 1) add(ARGS.to, `${n}`);
  await stage.clock.advance(3_600_000);
  fake.lose("after");
  expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject({ status: "committed" });
  expect(fake.reads.map(({ query }) => query.get("PageToken"))).toEqual([null, "PT1"]);
});

test("a number in another form is not looked for", async () => {
  const stage = openStage();
  const { fake, definition } = await open(stage);
  fake.lose("after");
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 });
  const outcome = await stage.call(tool, { ...ARGS, to: "(555) 000-2222" });
  expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell", attempts: 1 });
});
