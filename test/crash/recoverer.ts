/**
 * A new process on the ledger that others left: it says what it finds, asks for the same wishes
 * again, and then once more.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { OperationView } from "../../src/engine/admin/operations.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { hangUp, hear, tell } from "../processes/parent.ts";
import { openPlace, type Place } from "../processes/place.ts";
import { LEASE_MS, orderOf, scopeOf, toolsOf } from "./tools.ts";
import type { Trial, Wish } from "./trial.ts";

/** A yes that was given before the crash. */
export interface Yes {
  readonly id: string;
  readonly digest: string;
}

export interface RecoverOrder {
  readonly tag: "recover";
  readonly place: Place;
  readonly witness: string;
  readonly trials: readonly {
    readonly trial: Trial;
    readonly url: string;
    readonly yeses: readonly Yes[];
  }[];
}

/** What a caller is told in the end. */
export interface Verdict {
  readonly name: string;
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly effectId?: string | undefined;
  /** How often it was asked for. */
  readonly asked: number;
}

/** One operation as the ledger lists it. */
export interface Listed {
  readonly id: string;
  readonly status: string;
  readonly open: boolean;
}

export interface Recovered {
  readonly tag: "recovered" | "repeated";
  readonly trials: readonly {
    readonly id: string;
    /** The ledger before the first call, or after the last. */
    readonly ledger: readonly Listed[];
    readonly verdicts: readonly Verdict[];
    /** Yeses that could be given once more. */
    readonly yesesTaken: readonly string[];
  }[];
  readonly suspicions: readonly string[];
}

/** What is certainly not applied fires again when it is asked for again. */
const COOLDOWN_MS = 1;
/** On a machine that stands still a call may run out of time, or its lease: then it is made again. */
const ASKED_AT_MOST = 3;

const order = await hear<RecoverOrder>("recover");
const { store, end } = await openPlace(order.place);
const all = createHoldfire({
  store,
  witness: fileWitness({ folder: order.witness }),
  retry: { leaseMs: LEASE_MS, cooldownMs: COOLDOWN_MS, minDelayMs: 1, maxDelayMs: 50 },
});
const suspicions: string[] = [];
all.on("store", (event) => {
  if (event.status === "suspect") suspicions.push(event.why);
});
const tenants = order.trials.map(({ trial, url, yeses }) => {
  const hf = all.forTenant(trial.id);
  return { hf, trial, yeses, tools: toolsOf({ hf, trial, url }) };
});
type Tenant = (typeof tenants)[number];

await tell(
  await report("recovered", async (tenant) => {
    const ledger = await listAll(tenant.hf);
    return { ledger, verdicts: await askForAll(tenant), yesesTaken: [] };
  }),
);
await hear("again");
await tell(
  await report("repeated", async (tenant) => {
    const yesesTaken = await sayYesAgain(tenant);
    const verdicts = await askForAll(tenant);
    return { ledger: await listAll(tenant.hf), verdicts, yesesTaken };
  }),
);
await all.close();
await end();
hangUp();

async function report(
  tag: Recovered["tag"],
  look: (tenant: Tenant) => Promise<Omit<Recovered["trials"][number], "id">>,
): Promise<Recovered> {
  const trials = await Promise.all(
    tenants.map(async (tenant) => ({ id: tenant.trial.id, ...(await look(tenant)) })),
  );
  return { tag, trials, suspicions };
}

function askForAll({ trial, tools }: Tenant): Promise<Verdict[]> {
  const ask = (wish: Wish) => tools[wish.class].outcome(orderOf(wish), { scope: scopeOf(trial) });
  return Promise.all(
    trial.wishes.map(async (wish): Promise<Verdict> => {
      let outcome = await ask(wish);
      let asked = 1;
      for (; asked < ASKED_AT_MOST && !isOver(wish, outcome.status); asked += 1) {
        outcome = await ask(wish);
      }
      const { id, key, status } = outcome;
      return {
        name: wish.name,
        id,
        key,
        status,
        reason: "reason" in outcome ? outcome.reason : undefined,
        effectId: outcome.status === "committed" ? outcome.result?.id : undefined,
        asked,
      };
    }),
  );
}

function isOver(wish: Wish, status: string): boolean {
  return status === "committed" || (status === "unknown" && wish.class === "neither");
}

/** Every yes was for one operation, which has ended: nobody may give it again. */
async function sayYesAgain({ hf, yeses }: Tenant): Promise<string[]> {
  const taken: string[] = [];
  for (const { id, digest } of yeses) {
    await hf.approvals.approve(id, { digest, by: "bob" }).then(
      () => taken.push(id),
      () => {},
    );
  }
  return taken;
}

async function listAll(hf: Holdfire): Promise<Listed[]> {
  const views: OperationView[] = [];
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ cursor, limit: 500 });
    views.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return views.map(({ id, status, open }) => ({ id, status, open }));
}
