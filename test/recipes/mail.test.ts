import { describe, expect, test } from "vitest";
import { resendMail, sendgridMail } from "../../src/recipes/messages/mail.ts";
import { type FakeAnswer, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

const MAIL = { from: "a@acme.com", to: "b@acme.com", subject: "Invoice 7", text: "It is due." };

/** SendGrid as documented: 202 without a body; the activity is looked up by a query. */
async function openSendgrid(activity: boolean) {
  const kept: { readonly msg_id: string; readonly key: string; status: string }[] = [];
  const add = (key: string) =>
    kept.push({ msg_id: `m${kept.length + 1}.filter`, key, status: "processed" });
  const fake = await startFake(({ method, query, json }): FakeAnswer => {
    if (method === "POST") {
      add((json as { custom_args: { holdfire_key: string } }).custom_args.holdfire_key);
      return { status: 202, headers: { "x-message-id": `m${kept.length}` } };
    }
    const key = /^unique_args\['holdfire_key'\]="([0-9a-f-]+)"$/.exec(
      query.get("query") ?? "",
    )?.[1];
    return { body: { messages: kept.filter((mail) => mail.key === key) } };
  });
  const access = { authorization: "Bearer SG", baseUrl: fake.url, activity };
  const definition = sendgridMail({ ...access, windowCoversLag: true });
  return { fake, kept, add, definition, careful: sendgridMail(access), effects: () => kept.length };
}

recipeContract("sendgridMail", {
  licence: "absent",
  open: async () => {
    const { add, ...rest } = await openSendgrid(true);
    return { ...rest, args: MAIL, makeForeign: () => void add("0190a5b2-another") };
  },
});

test("sendgridMail without the activity add-on is sent once, and a lost reply stays unknown", async () => {
  const stage = openStage();
  const { fake, definition, effects } = await openSendgrid(false);
  fake.lose("after");
  const tool = stage.tool(definition);
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", reason: "lost_reply" });
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", replayed: true });
  expect([fake.writes.length, effects(), fake.reads.length]).toEqual([1, 1, 0]);
});

test("an activity that lags proves no absence, whatever window is declared", async () => {
  const stage = openStage();
  const { fake, careful, kept } = await openSendgrid(true);
  fake.lose("before");
  const tool = stage.tool({ ...careful, commitsWithinMs: 2_000 });
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, kept.length]).toEqual([1, 0]);
});

test("a mail that was not delivered is found, and not called done", async () => {
  const stage = openStage();
  const { fake, careful, kept } = await openSendgrid(true);
  fake.lose("after");
  const { readState } = careful;
  const tool = stage.tool({
    ...careful,
    readState: (query) => {
      for (const mail of kept) mail.status = "not_delivered";
      return readState?.(query) ?? Promise.reject(new Error("no reader"));
    },
  });
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect(fake.writes).toHaveLength(1);
});

/** Resend as documented: a key is answered with the first result, another content with a 409. */
async function openResend() {
  const kept: string[] = [];
  const answers = new Map<string, { readonly text: string; readonly answer: FakeAnswer }>();
  const fake = await startFake(({ headers, text }) => {
    const key = `${headers["idempotency-key"]}`;
    const known = answers.get(key);
    if (known) {
      const conflict = {
        status: 409,
        body: { name: "invalid_idempotent_request", statusCode: 409 },
      };
      return known.text === text ? known.answer : conflict;
    }
    kept.push(text);
    const answer = { body: { id: `mail-${kept.length}` } };
    answers.set(key, { text, answer });
    return answer;
  });
  const definition = resendMail({ authorization: "Bearer re_1", baseUrl: fake.url });
  return { fake, kept, definition, args: MAIL, effects: () => kept.length };
}

recipeContract("resendMail", { licence: "keyed", finds: false, open: openResend });

describe("resendMail", () => {
  test("sends the same key again after a lost reply, and gets the first result", async () => {
    const stage = openStage();
    const { fake, definition, effects } = await openResend();
    fake.lose("after");
    expect(await stage.call(stage.tool(definition), MAIL)).toMatchObject({
      status: "committed",
      attempts: 2,
      licence: "keyed",
      result: { id: "mail-1" },
    });
    expect(effects()).toBe(1);
    expect(fake.writes[0]?.headers["idempotency-key"]).toBe(
      fake.writes[1]?.headers["idempotency-key"],
    );
  });

  test("past the key's memory nothing is sent again", async () => {
    const stage = openStage();
    const { fake, definition } = await openResend();
    fake.lose("after");
    const tool = stage.tool({ ...definition, attempts: 1 });
    expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown" });
    await stage.clock.advance(24 * 3_600_000);
    expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown" });
    expect(fake.writes).toHaveLength(1);
  });
});
