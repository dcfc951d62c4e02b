/** A program may go on to use the options of one recipe for its next tool: each tool keeps to those it was made with. */

import { describe, expect, test } from "vitest";
import type { StateQuery } from "../../src/engine/define/reading.ts";
import { discordMessage } from "../../src/recipes/messages/discord.ts";
import { sendgridMail } from "../../src/recipes/messages/mail.ts";
import { slackMessage } from "../../src/recipes/messages/slack.ts";
import { squarePayment } from "../../src/recipes/payments/square.ts";
import { githubIssue } from "../../src/recipes/records/github.ts";
import { jiraIssue } from "../../src/recipes/records/jira.ts";
import { linearIssue } from "../../src/recipes/records/linear.ts";
import { s3Create, s3Replace } from "../../src/recipes/s3.ts";
import type { ServiceAccess } from "../../src/recipes/service.ts";
import { type SqlValue, sqlInsert } from "../../src/recipes/sql.ts";

const KEY = "3d6c72eb-7f4c-4950-a32a-6bec6f56434b";

const context = {
  key: KEY,
  attempt: 1,
  precondition: undefined,
  signal: new AbortController().signal,
  fetch,
};

const asked = <I>(intent: I): StateQuery<I> => ({
  intent,
  key: KEY,
  keys: [KEY],
  firstSentAt: 0,
  taken: async () => false,
  signal: context.signal,
  fetch,
});

/** Every list of every service, empty. */
const EMPTY = {
  ok: true,
  messages: [],
  payments: [],
  issues: [],
  data: { issues: { nodes: [] } },
};

type Access = ServiceAccess & { baseUrl: string; windowCoversLag?: boolean; activity?: boolean };

interface Made {
  readonly run: () => unknown;
  readonly read: () => unknown;
}

const CONTENT = { channelId: "1", content: "hello" };
const MAIL = { from: "a@acme.com", to: "b@acme.com", subject: "Hello", text: "Hello" };
const MESSAGE = { channel: "C0123ABC", text: "hello" };
const PAYMENT = {
  source_id: "card",
  amount_money: { amount: 1, currency: "EUR" },
  location_id: "L1",
};
const JIRA = { project: "ENG", issueType: "Task", summary: "It is broken" };
const LINEAR = { teamId: "team-1", title: "It is broken" };

const RECIPES: readonly (readonly [string, (access: Access) => Made, reading: string])[] = [
  [
    "discordMessage",
    (access) => {
      const { run, readState } = discordMessage(access);
      return { run: () => run(CONTENT, context), read: () => readState?.(asked(CONTENT)) };
    },
    "cannot_tell",
  ],
  [
    "sendgridMail",
    (access) => {
      const { run, readState } = sendgridMail(access);
      return { run: () => run(MAIL, context), read: () => readState?.(asked(MAIL)) };
    },
    "cannot_tell",
  ],
  [
    "slackMessage",
    (access) => {
      const { run, readState } = slackMessage(access);
      return { run: () => run(MESSAGE, context), read: () => readState?.(asked(MESSAGE)) };
    },
    "absent",
  ],
  [
    "squarePayment",
    (access) => {
      const { run, readState } = squarePayment(access);
      return { run: () => run(PAYMENT, context), read: () => readState?.(asked(PAYMENT)) };
    },
    "cannot_tell",
  ],
  [
    "jiraIssue",
    (access) => {
      const { run, readState } = jiraIssue(access);
      return { run: () => run(JIRA, context), read: () => readState?.(asked(JIRA)) };
    },
    "cannot_tell",
  ],
  [
    "linearIssue",
    (access) => {
      const { run, readState } = linearIssue(access);
      return { run: () => run(LINEAR, context), read: () => readState?.(asked(LINEAR)) };
    },
    "absent",
  ],
];

describe("a recipe whose options are used again", () => {
  test.each(RECIPES)(
    "%s writes and looks in the account it was made for",
    async (name, make, reading) => {
      const requests: string[] = [];
      const answering: typeof fetch = async (input, init) => {
        requests.push(
          `${new URL(`${input}`).host} ${new Headers(init?.headers).get("authorization")}`,
        );
        return Response.json(name === "discordMessage" ? [] : EMPTY);
      };
      const access: Access = {
        authorization: "A",
        baseUrl: "https://a.example",
        fetch: answering,
        activity: true,
      };
      const { run, read } = make(access);
      Object.assign(access, {
        authorization: "B",
        baseUrl: "https://b.example",
        windowCoversLag: true,
      });
      // What it makes of this answer is not looked at here.
      await Promise.resolve(run()).catch(() => {});
      expect(await read()).toMatchObject({ reading });
      expect(requests.length).toBeGreaterThan(1);
      expect(new Set(requests)).toEqual(new Set(["a.example A"]));
    },
  );

  test("githubIssue does not take a list that lags for one that does not", async () => {
    const octokit = { request: async () => ({ data: [] }) };
    const access = { octokit, windowCoversLag: false };
    const { readState } = githubIssue(access as never);
    access.windowCoversLag = true;
    const intent = { owner: "acme", repo: "app", title: "It is broken" };
    expect(await readState?.(asked(intent))).toMatchObject({ reading: "cannot_tell" });
  });

  test.each([
    ["s3Create", s3Create],
    ["s3Replace", s3Replace],
  ])("%s writes in the account it was made for", async (_, make) => {
    const accountOf = (ETag: string) => ({
      putObject: async () => ({ ETag }),
      headObject: async () => ({ ETag }),
    });
    const options = { s3: accountOf("A") };
    const { run, precondition } = make(options);
    options.s3 = accountOf("B");
    const args = { bucket: "reports", name: "q3.txt", body: "All is well." };
    expect(await run(args, context)).toEqual({ etag: "A" });
    if (typeof precondition === "function") expect(await precondition(args)).toBe("A");
  });

  test("sqlInsert writes its columns", async () => {
    const columns = ["payee", "cents"];
    const given: (readonly SqlValue[])[] = [];
    const query = (_: string, values: readonly SqlValue[]) => {
      given.push(values);
      return [{}];
    };
    const { run, intent } = sqlInsert({ table: "payouts", columns, dialect: "sqlite", query });
    columns.reverse().push("note");
    await run({ payee: "ana", cents: 4 }, context);
    expect(given).toEqual([[KEY, "ana", 4]]);
    expect(() => intent?.({ note: "x" })).toThrow("payee, cents");
  });
});
