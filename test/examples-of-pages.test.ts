/** The main examples of the docs are run, as they stand there, and do what the page says. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fromSources, programsOf } from "./pages.ts";

/** Runs the program of this number, with the services that the page does not explain. */
async function runProgram(
  page: string,
  number: number,
  services: object,
  shown: readonly string[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), "{}");
  const file = join(folder, "example.ts");
  const program = fromSources(programsOf(page)[number - 1] ?? "");
  writeFileSync(file, `${program}\nexport { ${shown.join(", ")} };\n`);
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
    await runProgram(page, 10, { bank });
    expect(bank.payouts).toHaveLength(1);
  });

  test("the clients and models of the page are taken over as they stand there", async () => {
    const models = await Promise.all([4, 5, 6, 7].map((number) => runProgram(page, number, {})));
    expect(models.flatMap((exported) => Object.keys(exported).sort())).toEqual([
      ...["answer", "anthropic", "openai", "model", "refund"],
    ]);
  });
});
