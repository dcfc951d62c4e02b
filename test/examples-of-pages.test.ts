/** The main examples of the docs are run, as they stand there, and do what the page says. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fromSources, programsOf, textOf } from "./pages.ts";

function folderOf(page: string, number: number, name: string): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), "{}");
  const file = join(folder, name);
  writeFileSync(file, fromSources(programsOf(page)[number - 1] ?? ""));
  return { folder, file };
}

/** Runs the program of this number, with the services that the page does not explain. */
async function runProgram(
  page: string,
  number: number,
  services: object,
  shown: readonly string[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const { file } = folderOf(page, number, "example.ts");
  appendFileSync(file, `\nexport { ${shown.join(", ")} };\n`);
  Object.assign(globalThis, services);
  onTestFinished(() => {
    for (const name of Object.keys(services)) Reflect.deleteProperty(globalThis, name);
  });
  return import(/* @vite-ignore */ pathToFileURL(file).href);
}

const reset = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

interface Payout {
  readonly id: string;
  readonly payee: string;
  readonly cents: number;
  readonly reference?: string;
}

/** A bank that pays; the first `lost` replies do not arrive. */
function bankOf(lost = 0) {
  const payouts: Payout[] = [];
  const refunds: object[] = [];
  return {
    payouts,
    refunds,
    async pay(payout: Omit<Payout, "id">): Promise<Payout> {
      const made = { ...payout, id: `po_${payouts.length + 1}` };
      payouts.push(made);
      if (payouts.length <= lost) throw reset();
      return made;
    },
    find: async ({ reference }: { readonly reference: string }) =>
      payouts.filter((payout) => payout.reference === reference),
    async refund(refund: object) {
      refunds.push(refund);
      return { id: `re_${refunds.length}` };
    },
  };
}

test("getting started, to the letter: the outputs are those of the page", () => {
  const { folder } = folderOf("docs/1-getting-started.md", 1, "pay.mts");
  const outputs = [
    ...textOf("docs/1-getting-started.md").matchAll(/```sh\n(.*)\n```\n[^`]*```\n([\s\S]*?)```/g),
  ].map(([, command = "", output = ""]) => ({ command, output }));
  expect(outputs.map(({ command }) => command)).toEqual([
    "node pay.mts",
    "node pay.mts",
    "npx holdfire ls",
  ]);
  const { HOLDFIRE_STORE: _, ...env } = process.env;
  const cli = resolve("src/cli/main.ts");
  // How long ago it was is the one thing that may differ.
  const timeless = (text: string) => text.replaceAll(/\b\d+ m?s\b/g, "2 s").replaceAll(/ +/g, " ");
  for (const { command, output } of outputs) {
    const args = command.startsWith("npx holdfire ") ? [cli, "ls"] : ["pay.mts"];
    const options = { cwd: folder, encoding: "utf8", env } as const;
    expect(timeless(execFileSync(process.execPath, args, options))).toBe(timeless(output));
  }
});

test("getting started takes fewer than ten commands", () => {
  const [begin = ""] = textOf("docs/1-getting-started.md").split("\n## The smallest tool");
  const commands = [...begin.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = ""]) =>
    text.trim().split(/\n| && /),
  );
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.length).toBeLessThan(10);
});

test("keys and scopes: each call sends what the comment beside it says", async () => {
  const bank = bankOf();
  const printed = vi.spyOn(console, "log").mockReturnValue();
  onTestFinished(() => printed.mockRestore());
  await runProgram("docs/keys.md", 1, { bank });
  // Right 1 and 1, too wide 1, too narrow 2, wanted twice 2, by a key 1; in two turns 2, as no reply is lost here.
  expect(bank.payouts).toHaveLength(10);
  expect(bank.refunds).toHaveLength(1);
  expect(printed.mock.calls).toEqual([[true, ["comment"]]]);
});

test("reading state finds the lost payout, and of two that look alike each operation its own", async () => {
  const bank = bankOf(1);
  const made: { id: string; cents: number }[] = [];
  const ledgerless = {
    pay: async ({ cents }: { cents: number }) => {
      made.push({ id: `n_${made.length + 1}`, cents });
      throw reset();
    },
    list: async () => made,
  };
  const shown = ["outcome", "one", "two"];
  const found = await runProgram("docs/reading-state.md", 1, { bank, ledgerless }, shown);
  const once = { status: "committed", attempts: 1 };
  expect(found).toMatchObject({
    outcome: { ...once, effectId: "po_1" },
    one: { ...once, effectId: "n_1" },
    two: { ...once, effectId: "n_2" },
  });
  expect(bank.payouts).toHaveLength(1);
  expect(made).toHaveLength(2);
});

describe("coming from something else", () => {
  const page = "docs/migrating.md";

  test("p-retry pays twice when a reply is lost", async () => {
    const bank = bankOf(1);
    await runProgram(page, 1, { bank });
    expect(bank.payouts).toHaveLength(2);
  });

  test("what it becomes pays once", async () => {
    const bank = bankOf(1);
    await runProgram(page, 2, { bank });
    expect(bank.payouts).toHaveLength(1);
  });

  test("a p-retry that asks does not go on; all sends have one key", async () => {
    const keys: unknown[] = [];
    const pay = async (_: object, options: { readonly idempotencyKey: string }) => {
      keys.push(options.idempotencyKey);
      throw reset();
    };
    const run = runProgram(page, 3, { bank: { pay } });
    await expect(run).rejects.toMatchObject({ code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test("an operation named by its caller is paid once", async () => {
    const bank = bankOf();
    await runProgram(page, 6, { bank });
    expect(bank.payouts).toHaveLength(1);
  });
});
