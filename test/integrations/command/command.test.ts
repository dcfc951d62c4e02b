/** A program as a tool, with real processes. Each run of it that takes effect is a line in a file. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createHoldfire, type HoldfireOptions } from "../../../src/create.ts";
import { typed } from "../../../src/engine/define/schema.ts";
import { InvalidInputError, NotAppliedError, OutcomeUnknownError } from "../../../src/errors.ts";
import {
  CommandError,
  type CommandOptions,
  commandTool,
} from "../../../src/integrations/command/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";

const PROGRAM = fileURLToPath(new URL("ledger-program.mjs", import.meta.url));
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SCOPE = { scope: "conversation-7/turn-3" };

interface Pay {
  readonly name: string;
  readonly amount?: number | undefined;
  readonly extra?: string | undefined;
}

interface Line {
  readonly words: readonly string[];
  readonly key?: string;
  readonly env: readonly string[];
}

function bench(options: Partial<CommandOptions<Pay>> = {}, about: HoldfireOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-command-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "effects");
  const retry = { minDelayMs: 1, maxDelayMs: 1 };
  const store = memoryStore({ forgets: "accepted" });
  const hf = createHoldfire({ store, retry, ...about });
  onTestFinished(() => hf.close());
  const given = commandTool<Pay>({
    file: process.execPath,
    args: [PROGRAM, file, "pay", { flag: "--amount", from: "amount" }, { from: "name" }],
    keyFlag: "--idempotency-key",
    ...options,
  });
  const lines = (): Line[] =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  /** The usual words with more flags of the developer's. */
  const words = (...more: string[]) => [PROGRAM, file, "pay", ...more, { from: "name" } as const];
  return { hf, given, lines, file, words };
}

test("a program is run once, with the key, and a repeated call is answered from the record", async () => {
  const { hf, given, lines } = bench();
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  const first = await pay.outcome({ name: "p1", amount: 400 }, SCOPE);
  expect(first).toMatchObject({
    status: "committed",
    effect: "created",
    result: { exitCode: 0, json: { effect: "created", id: "p1" } },
  });
  const again = await pay.outcome({ amount: 400, name: "p1" }, SCOPE);
  expect(again).toMatchObject({ status: "committed", replayed: true, effect: "noop" });
  expect("result" in again && again.result).toEqual("result" in first && first.result);
  expect(lines()).toHaveLength(1);
  expect(lines()[0]?.words).toContain("--amount=400");
  expect(lines()[0]?.key).toMatch(UUID);
});

test.each(["created", "updated", "deleted", "noop"])(
  "it may say that it has %s",
  async (effect) => {
    const { hf, words, ...stage } = bench();
    const given = commandTool<Pay>({
      file: process.execPath,
      args: [...words(`--effect=${effect}`)],
    });
    const pay = hf.tool({ name: "pay", kind: "write", ...given });
    expect(await pay.outcome({ name: "p1" }, SCOPE)).toMatchObject({ status: "committed", effect });
    expect(stage.lines()).toHaveLength(1);
  },
);

test("an effect that is none of the four is not passed on", async () => {
  const { hf, words } = bench();
  const given = commandTool<Pay>({ file: process.execPath, args: words("--effect=toString") });
  const outcome = await hf
    .tool({ name: "pay", kind: "write", ...given })
    .outcome({ name: "p1" }, SCOPE);
  expect(outcome).toMatchObject({ status: "committed" });
  expect("effect" in outcome && outcome.effect).toBeFalsy();
});

test("an exit code nobody declared is unknown, and the program is not run again", async () => {
  for (const code of [1, 2, 126, 127]) {
    const { hf, words, lines } = bench();
    const given = commandTool<Pay>({ file: process.execPath, args: words(`--exit=${code}`) });
    const pay = hf.tool({ name: "pay", kind: "write", ...given });
    await expect(pay({ name: "p1" }, SCOPE)).rejects.toBeInstanceOf(OutcomeUnknownError);
    await expect(pay({ name: "p1" }, SCOPE)).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(lines(), `exit ${code}`).toHaveLength(1);
  }
});

test("declared exit codes mean what was declared", async () => {
  const { hf, words, lines } = bench();
  const exitCodes = { 3: "rejected", 75: "refused", 10: "committed" } as const;
  const program = (code: number) => ({
    kind: "write" as const,
    ...commandTool<Pay>({ file: process.execPath, args: words(`--exit=${code}`), exitCodes }),
  });
  const rejected = hf.tool({ name: "rejected", ...program(3) });
  await expect(rejected({ name: "p1" }, SCOPE)).rejects.toMatchObject({ reason: "rejected" });
  expect(lines()).toHaveLength(1);
  const refused = hf.tool({ name: "refused", ...program(75) });
  await expect(refused({ name: "p1" }, SCOPE)).rejects.toMatchObject({ reason: "refused" });
  // refused: it said that it did nothing, so it was asked three times.
  expect(lines()).toHaveLength(4);
  const done = hf.tool({ name: "done", ...program(10) });
  expect(await done({ name: "p1" }, SCOPE)).toMatchObject({ exitCode: 10 });
});

test("its options count as they were given, also where a program goes on to use them for its next tool", async () => {
  const { hf } = bench();
  const tell =
    "console.log(JSON.stringify([process.argv.slice(1), process.env.ACCOUNT, 'HOME' in process.env])); process.exitCode = 3";
  const amount: { flag: string; from: "amount" | "name" } = { flag: "--amount", from: "amount" };
  const args = ["-e", tell, "--", amount];
  const env = ["HOME"];
  const setEnv = { ACCOUNT: "A" };
  const exitCodes: Record<number, "committed" | "rejected"> = { 3: "committed" };
  const options = { file: process.execPath, args, env, setEnv, cwd: tmpdir(), exitCodes };
  const pay = hf.tool({ name: "pay", kind: "write", ...commandTool<Pay>(options) });
  amount.from = "name";
  args.push("more");
  env.pop();
  setEnv.ACCOUNT = "B";
  exitCodes[3] = "rejected";
  Object.assign(options, { setEnv: { ACCOUNT: "C" }, cwd: "/nowhere", maxOutputBytes: 1 });
  const { json } = await pay({ name: "p1", amount: 400 }, SCOPE);
  expect(json).toEqual([["--amount=400"], "A", true]);
});

test("a keyed program is run again with the same key after an end that proves nothing", async () => {
  const { hf, words, lines } = bench();
  const keyFlag = "--idempotency-key";
  const given = commandTool<Pay>({ file: process.execPath, args: words("--exit=1"), keyFlag });
  const keyed = { forMs: 86_400_000 };
  const pay = hf.tool({ name: "pay", kind: "write", keyed, ...given });
  await expect(pay({ name: "p1" }, SCOPE)).rejects.toBeInstanceOf(OutcomeUnknownError);
  expect(lines()).toHaveLength(3);
  expect(new Set(lines().map(({ key }) => key)).size).toBe(1);
});

test("a program that is not there was not run", async () => {
  const { hf } = bench();
  const given = commandTool<Pay>({ file: "holdfire-no-such-program", args: [{ from: "name" }] });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  const failed = pay({ name: "p1" }, SCOPE);
  await expect(failed).rejects.toBeInstanceOf(NotAppliedError);
  await expect(failed).rejects.toMatchObject({ reason: "not_sent" });
  const { cause } = await failed.catch((error) => error);
  expect(cause).toBeInstanceOf(CommandError);
  expect(cause.end).toEqual({ tag: "not_started", code: "ENOENT" });
});

test("what a timeout kills is unknown, and gone", async () => {
  const { hf, words, lines } = bench();
  const args = words("--hang");
  const given = commandTool<Pay>({ file: process.execPath, args, timeoutMs: 1_500 });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  const outcome = await pay.outcome({ name: "p1" }, SCOPE);
  expect(outcome).toMatchObject({ status: "unknown" });
  expect(await pay.outcome({ name: "p1" }, SCOPE)).toMatchObject({ status: "unknown" });
  expect(lines()).toHaveLength(1);
});

test.each([0, 3])(
  "a program that is stopped, and then ends with %i, proves nothing",
  async (exit) => {
    const { words, lines } = bench();
    const args = words("--polite", `--exit=${exit}`);
    const exitCodes = { 3: "rejected" } as const;
    const given = commandTool<Pay>({ file: process.execPath, args, exitCodes });
    const stop = new AbortController();
    const context = {
      key: "k",
      precondition: undefined,
      fetch: globalThis.fetch,
      attempt: 1,
      signal: stop.signal,
    };
    const running = given.run({ name: "p1" }, context).catch((error: unknown) => error);
    await expect.poll(lines).toHaveLength(1);
    stop.abort();
    const error = await running;
    expect(error).toMatchObject({ end: { tag: "killed", signal: "SIGTERM" } });
    expect(given.classify(error)).toBe("unknown");
  },
);

test("what a signal kills is unknown", async () => {
  const { hf, words, lines } = bench();
  const given = commandTool<Pay>({ file: process.execPath, args: words("--kill") });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  const outcome = await pay.outcome({ name: "p1" }, SCOPE);
  expect(outcome).toMatchObject({ status: "unknown" });
  expect("error" in outcome && outcome.error).toMatchObject({
    end: { tag: "killed", signal: "SIGKILL" },
  });
  expect(lines()).toHaveLength(1);
});

test.each(["-rf", "--exit=3", "-"])("a model's %s is no flag: nothing is run", async (name) => {
  const { hf, given, lines } = bench();
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  await expect(pay({ name }, SCOPE)).rejects.toBeInstanceOf(InvalidInputError);
  expect(lines()).toEqual([]);
  expect((await hf.operations.list()).items).toEqual([]);
});

test("behind a double dash it is a value, and our flags stand before it", async () => {
  const { hf, file, lines } = bench();
  const args = [PROGRAM, file, "pay", "--", { from: "name" } as const];
  const keyFlag = "--idempotency-key";
  const given = commandTool<Pay>({ file: process.execPath, args, keyFlag });
  await hf.tool({ name: "pay", kind: "write", ...given })({ name: "--exit=3" }, SCOPE);
  expect(lines()[0]?.words.slice(-2)).toEqual(["--", "--exit=3"]);
  expect(lines()[0]?.key).toMatch(UUID);
});

test("a model's text is one word, whatever a shell would make of it", async () => {
  const { hf, file, lines } = bench();
  const args = [PROGRAM, file, "pay", { flag: "--note", from: "extra" }, { from: "name" }] as const;
  const given = commandTool<Pay>({ file: process.execPath, args });
  const evil = '$(touch /tmp/x) `id`; rm -rf / && echo "\'"\n--exit=3 \u202e';
  await hf.tool({ name: "pay", kind: "write", ...given })({ name: evil, extra: `-${evil}` }, SCOPE);
  expect(lines()[0]?.words).toEqual([`--note=-${evil}`, evil]);
});

test("values apart from their flag may not look like flags", async () => {
  const { hf, file, lines } = bench();
  const args = [PROGRAM, file, "pay", { flag: "-n", from: "extra" }, { from: "name" }] as const;
  const given = commandTool<Pay>({ file: process.execPath, args });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  await expect(pay({ name: "p1", extra: "--exit=3" }, SCOPE)).rejects.toThrow(/args\.extra/);
  await expect(pay({ name: "p\u00001" }, SCOPE)).rejects.toThrow(/NUL/);
  await expect(pay({ name: { a: 1 } as never }, SCOPE)).rejects.toThrow(/args\.name/);
  expect(lines()).toEqual([]);
});

test.each([true, false])(
  "a model's %s for a value is refused: no bare flag takes the next word",
  async (extra) => {
    for (const piece of [
      { flag: "--note", from: "extra" },
      { flag: "-n", from: "extra" },
      { from: "extra" },
    ] as const) {
      const { hf, file, lines } = bench();
      const args = [PROGRAM, file, "pay", piece, { from: "name" }] as const;
      const given = commandTool<Pay>({ file: process.execPath, args });
      const pay = hf.tool({ name: "pay", kind: "write", ...given });
      await expect(pay({ name: "p1", extra: extra as never }, SCOPE)).rejects.toThrow(
        /args\.extra/,
      );
      expect(lines()).toEqual([]);
    }
  },
);

test("a flag declared bare is there or not, and takes no value", async () => {
  const { hf, file, lines } = bench();
  type Asked = { readonly name: string; readonly all?: boolean };
  const args = [
    PROGRAM,
    file,
    "pay",
    { flag: "--all", from: "all", bare: true },
    { from: "name" },
  ] as const;
  const given = commandTool<Asked>({ file: process.execPath, args });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  await pay({ name: "p1", all: true }, SCOPE);
  await pay({ name: "p2", all: false }, SCOPE);
  await pay({ name: "p3" }, SCOPE);
  await expect(pay({ name: "p4", all: "yes" as never }, SCOPE)).rejects.toThrow(/args\.all/);
  expect(lines().map(({ words }) => words)).toEqual([["--all", "p1"], ["p2"], ["p3"]]);
});

test("bad words under a schema of the user's own are found before the program starts", async () => {
  const { hf, given, lines } = bench();
  const pay = hf.tool({ name: "pay", kind: "write", ...given, input: typed<Pay>() });
  await expect(pay({ name: "-rf" }, SCOPE)).rejects.toMatchObject({ reason: "not_sent" });
  expect(lines()).toEqual([]);
});

test("a schema given to commandTool checks first", async () => {
  const { hf, lines } = bench();
  const input = z.object({ name: z.string().min(3) });
  const given = commandTool({ file: process.execPath, args: [{ from: "name" }], input });
  const pay = hf.tool({ name: "pay", kind: "write", ...given });
  await expect(pay({ name: "p1" }, SCOPE)).rejects.toThrow(/args\.name/);
  expect(lines()).toEqual([]);
});

test("the program sees PATH alone, or what was listed", async () => {
  process.env.HOLDFIRE_TEST_SECRET = "s3cret";
  onTestFinished(() => {
    delete process.env.HOLDFIRE_TEST_SECRET;
  });
  const few = bench();
  await few.hf.tool({ name: "pay", kind: "write", ...few.given })({ name: "p1" }, SCOPE);
  expect(few.lines()[0]?.env).toEqual(["PATH"]);
  const more = bench({ env: ["PATH", "HOLDFIRE_TEST_SECRET", "NOT_SET"], setEnv: { LANG: "C" } });
  await more.hf.tool({ name: "pay", kind: "write", ...more.given })({ name: "p1" }, SCOPE);
  expect(more.lines()[0]?.env).toEqual(["HOLDFIRE_TEST_SECRET", "LANG", "PATH"]);
});

test("output is cut at its bound, and the call is committed all the same", async () => {
  const { hf, words, lines } = bench();
  const args = words("--loud");
  const given = commandTool<Pay>({ file: process.execPath, args, maxOutputBytes: 1_000 });
  const result = await hf.tool({ name: "pay", kind: "write", ...given })({ name: "p1" }, SCOPE);
  expect(result).toEqual({ exitCode: 0, text: "x".repeat(1_000), truncated: true });
  expect(lines()).toHaveLength(1);
});

test("a dry run is the plan that a person is shown", async () => {
  const plans: unknown[] = [];
  const { hf, given, lines } = bench(
    { dryRunFlag: "--dry-run" },
    {
      confirm: ({ plan }) => {
        plans.push(plan);
        expect(lines()).toEqual([]);
        return { approve: true, by: "ana" };
      },
    },
  );
  const pay = hf.tool({ name: "pay", kind: "destructive", ...given });
  await pay({ name: "p1" }, SCOPE);
  expect(plans).toEqual([{ changes: [{ type: "create", target: "payment/p1" }] }]);
  expect(lines()).toHaveLength(1);
});

/** The plan of a program whose dry run prints this. */
async function planned(said: string, options: Partial<CommandOptions<Pay>> = {}) {
  const { hf, file } = bench();
  const args = [PROGRAM, file, "pay", `--say=${said}`, { from: "name" } as const];
  const dryRunFlag = "--dry-run";
  const given = commandTool<Pay>({ file: process.execPath, args, dryRunFlag, ...options });
  return hf.tool({ name: "pay", kind: "destructive", ...given }).plan({ name: "p1" }, SCOPE);
}

test("a dry run's words are shown as the kind of change they name", async () => {
  const changes = [{ type: "delete", target: "bucket/logs" }];
  expect(await planned(JSON.stringify({ changes }))).toMatchObject({ changes });
  expect(await planned('{"effect":"created"}')).toMatchObject({ effect: "would_create" });
  expect(await planned('{"effect":"noop"}')).toMatchObject({ effect: "would_do_nothing" });
});

test.each([
  '{"changes":[{"action":"delete","target":"bucket/logs"}]}',
  '{"changes":[{"type":"destroy","target":"bucket/logs"}]}',
  '{"changes":[{"type":"create","target":"a"},{"target":"b"}]}',
  '{"changes":{"type":"create","target":"a"}}',
  '{"changes":null}',
  '{"effect":"destroyed"}',
])("a dry run that says %s is an error, not an update", async (said) => {
  await expect(planned(said)).rejects.toBeInstanceOf(InvalidInputError);
});

test.each(["Plan: 0 to add, 3 to destroy.", '{"destroys":3}'])(
  "a dry run that says %s, and not which kind of change, is shown as the worst",
  async (said) => {
    const plan = await planned(said);
    expect(plan).toMatchObject({ effect: "would_delete" });
    expect(plan.diff).toMatch(/^delete anything: node does not say what it would change\n/);
    expect(plan.diff).toContain("3");
  },
);

test("a dry run that is not kept whole is no plan", async () => {
  await expect(planned("x".repeat(100), { maxOutputBytes: 50 })).rejects.toThrow(/maxOutputBytes/);
});

test("without the flag there is no plan, and bad options are refused at once", () => {
  expect(commandTool<Pay>({ file: "pay", args: [] })).not.toHaveProperty("plan");
  expect(() => commandTool({ file: "", args: [] })).toThrow(InvalidInputError);
  expect(() => commandTool({ file: "pay", args: [], keyFlag: "key" })).toThrow(InvalidInputError);
  expect(() => commandTool({ file: "pay", args: [], env: { A: "1" } as never })).toThrow(/setEnv/);
});

test("an abort kills the program; that it may have landed is not forgotten", async () => {
  const { hf, words, lines } = bench();
  const given = commandTool<Pay>({ file: process.execPath, args: words("--hang") });
  const pay = hf.tool({ name: "pay", kind: "write", ...given, attemptTimeoutMs: 60_000 });
  const stop = new AbortController();
  const calling = pay.outcome({ name: "p1" }, { ...SCOPE, signal: stop.signal });
  await expect.poll(lines).toHaveLength(1);
  stop.abort();
  expect(["in_progress", "unknown"]).toContain((await calling).status);
  expect(await pay.outcome({ name: "p1" }, SCOPE)).toMatchObject({ status: "unknown" });
  expect(lines()).toHaveLength(1);
});
