/**
 * The retry that paid twice: one payout whose reply is lost, told in three acts.
 *
 * Nothing here is staged. Each act has a real HTTP service of its own on loopback, which pays and
 * then resets the connection, and what is printed is what that service logged. Exits with 1 if the
 * acts do not end in two payouts, one payout, and one payout that is held.
 *
 * @module
 */

import { styleText } from "node:util";
import pRetry from "p-retry";
import { absent, committed, createHoldfire, type Outcome } from "../src/index.ts";
import { memoryStore } from "../src/stores/memory.ts";
import {
  type Arrival,
  type FaultyService,
  faults,
  type ReadArrival,
  startFaultyService,
} from "../src/testing/faulty-service.ts";

const PAYOUT = { payee: "ana", cents: 40_00 };
const SCOPE = "conversation-7/turn-3";

/** Act 1. The loop everybody writes: it takes a lost reply for a no. */
async function alone(service: FaultyService): Promise<boolean> {
  const bank = service.client("readable");
  const pay = () => bank.create(PAYOUT);

  await pRetry(pay, { retries: 2, minTimeout: 100 });

  arrived(service);
  say("outcome", "resolved, as if all were well");
  return service.effects.length === 2;
}

/** Act 2. The same payout, the same fault; the lost reply becomes a read. */
async function guarded(service: FaultyService): Promise<boolean> {
  const bank = service.client("readable");
  const hf = createHoldfire({ store: memoryStore() });
  const payOut = hf.tool({
    name: "pay_out",
    kind: "write",
    run: (payout: typeof PAYOUT, { key, signal }) => bank.create(payout, { key, signal }),
    readState: async ({ key, signal }) => {
      const [found] = await bank.find({ key }, { signal });
      return found ? committed(found, { effectId: found.id }) : absent();
    },
  });
  let via = "";
  hf.on("committed", (event) => {
    via = event.via;
  });

  const outcome = await payOut.outcome(PAYOUT, { scope: SCOPE });
  await hf.close();

  arrived(service);
  say("outcome", `${told(outcome)}, known by a ${via}`);
  return service.effects.length === 1 && outcome.status === "committed" && via === "reading";
}

/** Act 3. Neither key nor read: nobody can find out, so nobody fires again. */
async function blind(service: FaultyService): Promise<boolean> {
  const bank = service.client("neither");
  // The memory store takes such a tool only from someone who says that forgetting is acceptable.
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  const payOut = hf.tool({
    name: "pay_out_by_fax",
    kind: "write",
    run: (payout: typeof PAYOUT, { signal }) => bank.create(payout, { signal }),
  });

  const first = await payOut.outcome(PAYOUT, { scope: SCOPE });
  const sent = service.arrivals.length;
  const second = await payOut.outcome(PAYOUT, { scope: SCOPE });
  const sentAgain = service.arrivals.length - sent;
  const { message } = await payOut.reply(PAYOUT, { scope: SCOPE });
  const { items: held } = await hf.operations.list({ open: true });
  await hf.close();

  arrived(service);
  say("outcome", told(first));
  say("again", `${told(second)}, ${sentAgain} requests sent`);
  say("ledger", `${held.length} operation held: ${held.map(({ tool }) => tool).join(", ")}`);
  say("model", message);
  const unknown = [first, second].every(({ status }) => status === "unknown");
  return service.arrivals.length === 1 && held.length === 1 && unknown;
}

/** Prints what reached the service, reads included, in the order in which it came. */
function arrived({ arrivals, reads, effects }: FaultyService): void {
  const paid = new Set(effects.map(({ arrival }) => arrival));
  const lines = [
    ...arrivals.map((arrival) => ({ ...arrival, end: endOf(arrival, paid.has(arrival.seq)) })),
    ...reads.map((read) => ({ ...read, key: keyIn(read), end: "read: is it there?" })),
  ];
  for (const { method, path, key, end } of lines.sort((a, b) => a.seq - b.seq)) {
    const target = `${method.padEnd(4)} ${path.split("?")[0]}`;
    say("arrived", `${target.padEnd(23)} key ${(key ?? "none").slice(0, 8).padEnd(8)}  ${end}`);
  }
  const money = effects.length * (PAYOUT.cents / 100);
  const text = `${money.toFixed(2)} paid, payouts: ${effects.length}`;
  say("money", styleText(effects.length === 1 ? "green" : "red", text));
}

function endOf({ fault }: Arrival, paid: boolean): string {
  return `${paid ? "paid" : "not paid"}, ${fault ? "and the reply was lost" : "and answered"}`;
}

const keyIn = ({ path }: ReadArrival): string | undefined =>
  new URL(path, "http://localhost").searchParams.get("key") ?? undefined;

const told = (outcome: Outcome<unknown>): string =>
  outcome.status === "unknown" ? `unknown (${outcome.reason})` : outcome.status;

const say = (what: string, text: string): void =>
  console.log(`  ${styleText("dim", what.padEnd(8))} ${text}`);

const ACTS = [
  { title: "p-retry alone", play: alone },
  { title: "the same payout through holdfire", play: guarded },
  { title: "a tool with neither key nor read", play: blind },
];

console.log(styleText("bold", "The retry that paid twice"));
console.log("Pay 40.00 to ana, once. The service pays, and its reply is lost.");
for (const [index, { title, play }] of ACTS.entries()) {
  console.log(styleText("bold", `\n${index + 1}. ${title}`));
  const service = await startFaultyService();
  service.plan(faults.commitThenReset());
  try {
    if (await play(service)) continue;
    console.error(
      styleText("red", "  This is not how the act should end.", { stream: process.stderr }),
    );
    process.exitCode = 1;
  } finally {
    await service.close();
  }
}
