/** Tools that are built for each request: each closes over the account of its own customer. */
import { expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { absent, cannotTell, committed } from "../../src/engine/define/reading.ts";
import { openWorld, type World } from "../scenarios/world.ts";

const HOUR_MS = 3_600_000;
const PAYOUT = { payee: "ana", cents: 4_000 };
const ACME = { scope: "acme/chat-1" };

/** Two accounts of a bank that loses its first reply, and cannot be read while `down`. */
function openBank() {
  const sent: string[] = [];
  const paid: Record<string, Set<string>> = { acme: new Set(), beta: new Set() };
  const bank = { sent, down: false, definitionFor };
  function definitionFor(account: "acme" | "beta") {
    return {
      name: "pay_out",
      kind: "write",
      keyed: { forMs: 24 * HOUR_MS },
      attempts: 1,
      commitsWithinMs: 1_000,
      run: async (_: typeof PAYOUT, { key }: { readonly key: string }) => {
        sent.push(account);
        paid[account]?.add(key);
        if (bank.down) throw new TypeError("fetch failed");
        return { account };
      },
      readState: ({ key }: { readonly key: string }) => {
        if (bank.down) return cannotTell("the bank does not answer");
        return paid[account]?.has(key) ? committed({ account }) : absent();
      },
    } as const;
  }
  return bank;
}

/** A payout of acme's whose reply is lost; later the bank is there again. */
async function lose(world: World, hf: Holdfire, bank: ReturnType<typeof openBank>) {
  bank.down = true;
  const tool = hf.tool(bank.definitionFor("acme"));
  expect(await world.pass(tool.outcome(PAYOUT, ACME))).toMatchObject({ status: "unknown" });
  bank.down = false;
  await world.clock.advance(60_000);
}

test("what the tool of another customer does not find is not absent, and it sends nothing", async () => {
  const world = await openWorld();
  const hf = world.another();
  const bank = openBank();
  // The reader of beta is known to see.
  const beta = hf.tool(bank.definitionFor("beta"));
  await world.pass(beta(PAYOUT, { scope: "beta/chat-1" }));
  await lose(world, hf, bank);
  hf.tool(bank.definitionFor("beta"));
  expect(await world.pass(hf.reconcile({ resend: true }))).toMatchObject({
    notApplied: 0,
    resent: 0,
    stillUnknown: [{ because: "several_tools" }],
  });
  // The customer says "try again".
  const acme = hf.tool(bank.definitionFor("acme"));
  expect(await world.pass(acme.outcome(PAYOUT, ACME))).toMatchObject({ status: "committed" });
  expect(bank.sent).toEqual(["beta", "acme"]);
});

test("what is found is found, whoever looks", async () => {
  const world = await openWorld();
  const hf = world.another();
  const bank = openBank();
  hf.tool(bank.definitionFor("beta"));
  await lose(world, hf, bank);
  expect(await world.pass(hf.reconcile())).toMatchObject({ committed: 1, stillUnknown: [] });
});

test("made again by the same functions, it is one tool", async () => {
  const world = await openWorld();
  const hf = world.another();
  const bank = openBank();
  const run = async (_: typeof PAYOUT): Promise<{ account: "acme" | "beta" }> => {
    throw new TypeError("fetch failed");
  };
  const definition = { ...bank.definitionFor("acme"), run };
  bank.down = true;
  const outcome = await world.pass(hf.tool(definition).outcome(PAYOUT, ACME));
  expect(outcome).toMatchObject({ status: "unknown" });
  bank.down = false;
  await world.clock.advance(60_000);
  hf.tool({ ...definition });
  expect(await world.pass(hf.reconcile())).toMatchObject({ notApplied: 1, stillUnknown: [] });
});

test("what is found by likeness, and not by the key, may be the payout of another customer", async () => {
  const world = await openWorld();
  const hf = world.another();
  const bank = openBank();
  const byLikeness = (account: "acme" | "beta") => ({
    ...bank.definitionFor(account),
    readState: ({ intent }: { readonly intent: typeof PAYOUT }) => {
      if (bank.down) return cannotTell("the bank does not answer");
      const isPaid = account === "beta" && intent.payee === "ana";
      return isPaid ? committed({ account }) : absent();
    },
  });
  bank.down = true;
  const acme = hf.tool(byLikeness("acme"));
  expect(await world.pass(acme.outcome(PAYOUT, ACME))).toMatchObject({ status: "unknown" });
  bank.down = false;
  await world.clock.advance(60_000);
  hf.tool(byLikeness("beta"));
  expect(await world.pass(hf.reconcile())).toMatchObject({
    committed: 0,
    stillUnknown: [{ because: "several_tools" }],
  });
});
