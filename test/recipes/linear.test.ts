import { expect, test } from "vitest";
import { linearIssue } from "../../src/recipes/records/linear.ts";
import { type FakeAnswer, type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

interface Kept {
  readonly id: string;
  readonly identifier: string;
  readonly url: string;
  readonly title: string;
}

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const failedWith = (status: number, extensions: object): FakeAnswer => ({
  status,
  body: { errors: [{ message: "No.", extensions }] },
});

const failed = (status: number, type: string): FakeAnswer => failedWith(status, { type });

/** Linear as documented: one address, ids of version 4 that are unique, errors beside the data. */
async function open(refusal?: FakeAnswer) {
  const kept: Kept[] = [];
  const add = ({ id, title }: { readonly id: string; readonly title: string }) => {
    const identifier = `ENG-${kept.length + 1}`;
    const made = { id, identifier, title, url: `https://linear.app/acme/issue/${identifier}` };
    kept.push(made);
    return made;
  };
  const handle = ({ json, headers }: FakeRequest): FakeAnswer => {
    if (headers.authorization !== "lin_api_1") return failed(400, "authentication error");
    const { query, variables } = json as unknown as {
      readonly query: string;
      readonly variables: { readonly input: Kept; readonly ids: readonly string[] };
    };
    if (query.startsWith("query")) {
      const nodes = kept.filter(({ id }) => variables.ids.includes(id));
      return { body: { data: { issues: { nodes } } } };
    }
    if (refusal) return refusal;
    const { input } = variables;
    if (!UUID_4.test(input.id) || kept.some(({ id }) => id === input.id)) {
      return failed(400, "invalid input");
    }
    return { body: { data: { issueCreate: { success: true, issue: add(input) } } } };
  };
  const fake = await startFake(handle, ({ text }) => text.includes("issueCreate"));
  const definition = linearIssue({ authorization: () => "lin_api_1", baseUrl: fake.url });
  return { fake, add, definition, effects: () => kept.length };
}

const ARGS = { teamId: "team-1", title: "It is broken", description: "Look." };

recipeContract("linearIssue", {
  licence: "keyed",
  open: async () => {
    const { add, ...rest } = await open();
    const foreign = { ...ARGS, id: "11111111-1111-4111-8111-111111111111" };
    return { ...rest, args: ARGS, makeForeign: () => void add(foreign) };
  },
});

test("an id that is taken, by the attempt that was lost, is found and not called a no", async () => {
  const stage = openStage();
  const { fake, definition, effects } = await open();
  const { readState } = definition;
  let looks = 0;
  fake.lose("after");
  // A reader that runs behind: at first it sees nothing.
  const tool = stage.tool({
    ...definition,
    readState: (query) => {
      looks += 1;
      if (looks === 1) return { reading: "absent" };
      return readState?.(query) ?? Promise.reject(new Error("no reader"));
    },
  });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "committed", attempts: 2 });
  expect([fake.writes.length, effects()]).toEqual([2, 1]);
});

test.each([
  [failed(400, "usage limit exceeded"), { status: "not_applied", reason: "rejected" }],
  [failed(200, "forbidden"), { status: "not_applied", reason: "rejected" }],
  [failed(400, "ratelimited"), { status: "not_applied", reason: "refused", attempts: 3 }],
  [
    failedWith(400, { code: "RATELIMITED" }),
    { status: "not_applied", reason: "refused", attempts: 3 },
  ],
  [failed(400, "invalid input"), { status: "not_applied", reason: "rejected", attempts: 1 }],
  [failed(200, "invalid input"), { status: "not_applied", reason: "rejected", attempts: 1 }],
  [failedWith(400, { code: "INPUT_ERROR" }), { status: "not_applied", reason: "rejected" }],
  [failed(200, "internal error"), { status: "unknown" }],
])("judges what Linear says: %j", async (refusal, expected) => {
  const stage = openStage();
  const { definition, effects } = await open(refusal);
  expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject(expected);
  expect(effects()).toBe(0);
});

test("an id that is taken by us is done, also where the ledger that knew of it is lost", async () => {
  const { fake, definition, effects } = await open();
  const first = openStage();
  const made = await first.call(first.tool(definition), ARGS);
  const restored = openStage();
  const again = await restored.call(restored.tool(definition), ARGS);
  expect(again).toMatchObject({ status: "committed", key: made.key });
  expect([fake.writes.length, effects()]).toEqual([2, 1]);
});

test("invalid input proves nothing while the state cannot be read", async () => {
  const { fake, definition } = await open();
  const first = openStage();
  await first.call(first.tool(definition), ARGS);
  fake.failReads(503);
  const restored = openStage();
  const again = await restored.call(restored.tool({ ...definition, attempts: 1 }), ARGS);
  expect(again).toMatchObject({ status: "unknown" });
});

test("an issue that was made beside an error is not called rejected", async () => {
  const stage = openStage();
  const issue = { id: "1", identifier: "A-1", url: "https://linear.app/a/1" };
  const errors = [{ path: ["issueCreate", "issue", "url"], extensions: { type: "forbidden" } }];
  const body = { data: { issueCreate: { success: true, issue } }, errors };
  const fake = await startFake(() => ({ body }));
  const tool = stage.tool(linearIssue({ authorization: "x", baseUrl: fake.url }));
  const outcome = await stage.call(tool, { teamId: "t", title: "Broken lamp" });
  expect(outcome.status).toBe("unknown");
});
