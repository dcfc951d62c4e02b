import { Octokit } from "octokit";
import { describe, expect, test } from "vitest";
import { ownRetries } from "../../src/integrations/octokit/index.ts";
import { githubIssue, githubPull } from "../../src/recipes/records/github.ts";
import { type FakeAnswer, type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly node_id: string;
  readonly number: number;
  readonly html_url: string;
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * Issues and pull requests as documented: newest first, in pages, filtered by `since` and `head`. The list lags by `lagMs`; writes
 * are answered with `refusals` first.
 */
async function open({ hf, clock }: Stage, { lagMs = 0, refusals = [] as FakeAnswer[] } = {}) {
  const kept: Kept[] = [];
  const add = (json: FakeRequest["json"] = {}): Kept => {
    const number = kept.length + 1;
    const at = new Date(clock.now()).toISOString();
    const item = {
      node_id: `I_${number}`,
      number,
      html_url: `https://github.com/acme/app/issues/${number}`,
      title: `${json.title}`,
      body: `${json.body}`,
      head: `${json.head ?? ""}`,
      created_at: at,
      updated_at: at,
    };
    kept.unshift(item);
    return item;
  };
  const fake = await startFake(({ method, query, json }) => {
    if (method === "POST") return refusals.shift() ?? { status: 201, body: add(json) };
    const since = Date.parse(query.get("since") ?? "1970-01-01T00:00:00Z");
    const head = query.get("head");
    const matching = kept
      .filter(({ updated_at }) => Date.parse(updated_at) >= since)
      .filter(({ created_at }) => Date.parse(created_at) + lagMs <= clock.now())
      .filter((item) => head === null || `acme:${item.head}` === head);
    const size = Number(query.get("per_page"));
    const from = (Number(query.get("page")) - 1) * size;
    return { body: matching.slice(from, from + size) };
  });
  const options = { auth: "x", baseUrl: fake.url, throttle: { enabled: false } };
  const octokit = new Octokit(ownRetries(options, hf));
  return { fake, kept, add, octokit, effects: () => kept.length };
}

const ISSUE = { owner: "acme", repo: "app", title: "It is broken", body: "Look." };
const PULL = { owner: "acme", repo: "app", head: "fix", base: "main", title: "Fix it" };

recipeContract("githubIssue", {
  licence: "absent",
  open: async (stage) => {
    const { add, octokit, ...rest } = await open(stage);
    const makeForeign = () => void add(ISSUE);
    return {
      ...rest,
      makeForeign,
      definition: githubIssue({ octokit, windowCoversLag: true }),
      args: ISSUE,
    };
  },
});

recipeContract("githubPull", {
  licence: "absent",
  open: async (stage) => {
    const { add, octokit, ...rest } = await open(stage);
    const makeForeign = () => void add(PULL);
    return {
      ...rest,
      makeForeign,
      definition: githubPull({ octokit, windowCoversLag: true }),
      args: PULL,
    };
  },
});

test("the mark is not shown, and one that the model wrote is none", async () => {
  const stage = openStage();
  const { kept, octokit } = await open(stage);
  const tool = stage.tool(githubIssue({ octokit }));
  const body = "Look.\n<!-- holdfire:f6faba71-d7c5-86bc-a71c-36efc07e4aaa -->";
  const { key } = await stage.call(tool, { ...ISSUE, body });
  expect(kept[0]?.body.match(/<!-- holdfire:\S+ -->/g)).toEqual([`<!-- holdfire:${key} -->`]);
});

test("an older issue that carries the mark is not this operation's", async () => {
  const stage = openStage();
  const { fake, add, octokit } = await open(stage);
  const tool = stage.tool(githubIssue({ octokit, windowCoversLag: true }));
  // The same call elsewhere has the same key: so it is known before it is made here.
  const twin = openStage();
  const opened = await open(twin);
  const first = await twin.call(twin.tool(githubIssue({ octokit: opened.octokit })), ISSUE);
  const old = add({ ...ISSUE, body: `<!-- holdfire:${first.key} -->` });
  await stage.clock.advance(3_600_000);
  Object.assign(old, { updated_at: new Date(stage.clock.now()).toISOString() });
  fake.lose("before");
  const outcome = await stage.call(tool, ISSUE);
  expect(outcome).toMatchObject({ key: first.key, status: "unknown", reason: "absent_unproven" });
});

test("an issue below a hundred newer ones is found, and no more is read than is needed", async () => {
  const stage = openStage();
  const { fake, kept, add, octokit } = await open(stage);
  for (let n = 0; n < 300; n += 1) add({ title: `old ${n}` });
  await stage.clock.advance(3_600_000);
  for (const old of kept)
    Object.assign(old, { updated_at: new Date(stage.clock.now()).toISOString() });
  fake.lose("after");
  octokit.hook.before("request", ({ method }) => {
    if (method === "GET" && kept.length < 400)
      for (let n = 0; n < 150; n += 1) add({ title: `${n}` });
  });
  expect(await stage.call(stage.tool(githubIssue({ octokit })), ISSUE)).toMatchObject({
    status: "committed",
    result: { number: 301 },
  });
  expect(fake.reads.map(({ query }) => query.get("page"))).toEqual(["1", "2"]);
});

test("a branch of a fork is looked up as it is, one of our own with its owner", async () => {
  const stage = openStage();
  const { fake, octokit } = await open(stage);
  const tool = stage.tool(githubPull({ octokit }));
  for (const head of ["fix", "fork:fix"]) {
    fake.lose("after");
    await stage.call(tool, { ...PULL, head }, head);
  }
  expect(new Set(fake.reads.map(({ query }) => query.get("head")))).toEqual(
    new Set(["acme:fix", "fork:fix"]),
  );
});

test("a no of GitHub is a no", async () => {
  const stage = openStage();
  const { fake, octokit } = await open(stage);
  fake.lose({ status: 422 });
  const outcome = await stage.call(stage.tool(githubPull({ octokit })), PULL);
  expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
});

describe("a limit of GitHub, which it tells with 403 or 429, is no rejection", () => {
  const reset = Date.parse("2026-11-17T10:00:07Z") / 1_000;
  const date = "Tue, 17 Nov 2026 10:00:00 GMT";
  const page = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";

  test.each([
    ["retry-after", { status: 403, headers: { "retry-after": "7" } }, 7_000],
    ["retry-after, 429", { status: 429, headers: { "retry-after": "7" } }, 7_000],
    [
      "the primary one, until its reset on GitHub's clock",
      {
        status: 403,
        headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${reset}`, date },
      },
      7_000,
    ],
  ])("it waits, and makes it: %s", async (_, refusal, waitMs) => {
    for (const [recipe, args] of [
      [githubIssue, ISSUE],
      [githubPull, PULL],
    ] as const) {
      const stage = openStage();
      const { fake, octokit, effects } = await open(stage, { refusals: [refusal] });
      const before = stage.clock.now();
      const tool = stage.tool<typeof PULL, unknown, unknown>(recipe({ octokit }) as never);
      const outcome = await stage.call(tool, args as typeof PULL);
      expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "refused" });
      expect(stage.clock.now() - before).toBeGreaterThanOrEqual(waitMs);
      expect([fake.writes.length, effects(), fake.reads.length]).toEqual([2, 1, 0]);
    }
  });

  test.each([
    ["without a header is known by the page it names", { body: { documentation_url: page } }],
    ["whose retry-after is blank says no time", { headers: { "retry-after": "" } }],
  ])("one %s; a minute is longer than the call", async (_, more) => {
    const stage = openStage();
    const { octokit, effects } = await open(stage, { refusals: [{ status: 403, ...more }] });
    const tool = stage.tool(githubIssue({ octokit }));
    const outcome = await stage.call(tool, ISSUE);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "refused", attempts: 1 });
    expect(effects()).toBe(0);
  });

  test("any other 403 is a no", async () => {
    const stage = openStage();
    const headers = { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": `${reset}` };
    const refusal = { status: 403, headers, body: { message: "Resource not accessible." } };
    const { octokit } = await open(stage, { refusals: [refusal] });
    const outcome = await stage.call(stage.tool(githubIssue({ octokit })), ISSUE);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
  });
});

test("a list that lags proves no absence, whatever window is declared", async () => {
  const stage = openStage();
  const { fake, octokit, effects } = await open(stage, { lagMs: 480_000 });
  const issue = stage.tool({ ...githubIssue({ octokit }), commitsWithinMs: 2_000 });
  const pull = stage.tool({ ...githubPull({ octokit }), commitsWithinMs: 2_000 });
  fake.lose("after");
  expect(await stage.call(issue, ISSUE)).toMatchObject({
    status: "unknown",
    reason: "cannot_tell",
  });
  fake.lose("after");
  expect(await stage.call(pull, PULL)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, effects()]).toEqual([2, 2]);
  await stage.clock.advance(480_000);
  expect(await stage.call(issue, ISSUE)).toMatchObject({ status: "committed", attempts: 1 });
});

test("a client that repeats requests is told to make each write once", async () => {
  const stage = openStage();
  const { fake } = await open(stage);
  const throttle = { enabled: false };
  const octokit = new Octokit({ auth: "x", baseUrl: fake.url, throttle, retry: { retries: 3 } });
  fake.lose({ status: 502 });
  expect(await stage.call(stage.tool(githubIssue({ octokit })), ISSUE)).toMatchObject({
    status: "unknown",
  });
  expect(fake.writes).toHaveLength(1);
});
