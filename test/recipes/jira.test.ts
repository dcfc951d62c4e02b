import { expect, test } from "vitest";
import { jiraIssue } from "../../src/recipes/records/jira.ts";
import { type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly id: string;
  readonly key: string;
  readonly fields: { readonly labels: readonly string[] };
  readonly at: number;
}

/** Jira as documented: the search runs behind. Here by `lagMs`. */
async function open({ clock }: Stage, lagMs = 0) {
  const kept: Kept[] = [];
  const add = (labels: readonly string[]): Kept => {
    const number = kept.length + 1;
    const made = { id: `1000${number}`, key: `ENG-${number}`, fields: { labels }, at: clock.now() };
    kept.push(made);
    return made;
  };
  const isSearch = ({ path }: FakeRequest) => path === "/rest/api/3/search/jql";
  const fake = await startFake(
    (request) => {
      const { json = {} } = request;
      if (isSearch(request)) {
        const labels = [...`${json.jql}`.matchAll(/"([^"]+)"/g)].map(([, label = ""]) => label);
        const issues = kept
          .filter(({ at }) => at + lagMs <= clock.now())
          .filter(({ fields }) => fields.labels.some((label) => labels.includes(label)));
        return { body: { issues, isLast: true } };
      }
      const { fields } = json as unknown as Kept;
      const { id, key } = add(fields.labels);
      return { status: 201, body: { id, key, self: "https://acme.atlassian.net/x" } };
    },
    (request) => !isSearch(request),
  );
  const access = { authorization: "Basic eDp5", baseUrl: fake.url };
  const definition = jiraIssue({ ...access, windowCoversLag: true });
  return { careful: jiraIssue(access), fake, kept, add, definition, effects: () => kept.length };
}

const ARGS = {
  project: "ENG",
  issueType: "Task",
  summary: 'Quote " OR labels = "holdfire-x',
  labels: ["bug", "holdfire-forged"],
};

recipeContract("jiraIssue", {
  licence: "absent",
  open: async (stage) => {
    const { add, ...rest } = await open(stage);
    return { ...rest, args: ARGS, makeForeign: () => void add(["bug", "holdfire-other"]) };
  },
});

test("the query holds our label and no word of the model; a label it forged is left out", async () => {
  const stage = openStage();
  const { fake, kept, definition } = await open(stage);
  fake.lose("after");
  const { key } = await stage.call(stage.tool(definition), ARGS);
  expect(kept[0]?.fields.labels).toEqual(["bug", `holdfire-${key}`]);
  expect(new Set(fake.reads.map(({ json }) => json?.jql))).toEqual(
    new Set([`labels in ("holdfire-${key}")`]),
  );
});

test("with a window as long as the search is late, nothing is made twice", async () => {
  const stage = openStage();
  const { fake, definition, effects } = await open(stage, 20_000);
  fake.lose("after");
  const tool = stage.tool({ ...definition, commitsWithinMs: 30_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed", attempts: 1 });
  expect([fake.writes.length, effects()]).toEqual([1, 1]);
});

test("a search that lags proves no absence, whatever window is declared", async () => {
  const stage = openStage();
  const { fake, careful, effects } = await open(stage, 240_000);
  fake.lose("after");
  const tool = stage.tool({ ...careful, commitsWithinMs: 30_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, effects()]).toEqual([1, 1]);
  await stage.clock.advance(240_000);
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed", attempts: 1 });
});
