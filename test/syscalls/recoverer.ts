/**
 * A new process on the ledgers that were left: it reconciles, makes each call again, and then once
 * more.
 *
 * @module
 */

import { atMost } from "../processes/at-most.ts";
import { hangUp, hear, tell } from "../processes/parent.ts";
import { COOLDOWN_MS, type Opened, openSwept, SCOPE, type Swept } from "./tools.ts";

export interface RecoverOrder {
  readonly tag: "recover";
  readonly all: readonly Swept[];
}

export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly effectId?: string | undefined;
}

/** What one caller was told until it was done, once more after that, and what its ledger holds. */
export interface Recovery {
  readonly item: string;
  readonly told: readonly Answer[];
  readonly again?: Answer | undefined;
  readonly ledger: readonly { readonly id: string; readonly status: string }[];
  /** What was said against a store that lost nothing. */
  readonly suspicions: readonly string[];
  /** Set where the ledger could not be used at all. */
  readonly failed?: string | undefined;
}

export interface Recovered {
  readonly tag: "recovered";
  readonly all: readonly Recovery[];
}

/** They wait for leases, and not for the processor. */
const AT_ONCE = 12;
const ASKED_AT_MOST = 10;

const { all } = await hear<RecoverOrder>("recover");
await tell<Recovered>({ tag: "recovered", all: await atMost(AT_ONCE, all, recover) });
hangUp();

async function recover(swept: Swept): Promise<Recovery> {
  const { item } = swept;
  const opened = openSwept(swept);
  const suspicions: string[] = [];
  opened.hf.on("store", (event) => {
    if (event.status === "suspect") suspicions.push(event.why);
  });
  try {
    await opened.hf.reconcile();
    const told = await askUntilDone(opened, item);
    const again = await ask(opened, item);
    const { items } = await opened.hf.operations.list({ limit: 10 });
    const ledger = items.map(({ id, status }) => ({ id, status }));
    return { item, told, again, ledger, suspicions };
  } catch (error) {
    return { item, told: [], ledger: [], suspicions, failed: String(error) };
  } finally {
    await opened.hf.close();
  }
}

/** What was proved absent is told as not applied for its cooldown, and then fires again. */
async function askUntilDone(opened: Opened, item: string): Promise<readonly Answer[]> {
  const told = [await ask(opened, item)];
  while (told.at(-1)?.status === "not_applied" && told.length < ASKED_AT_MOST) {
    await new Promise((resolve) => setTimeout(resolve, 10 * COOLDOWN_MS));
    told.push(await ask(opened, item));
  }
  return told;
}

async function ask({ order }: Opened, item: string): Promise<Answer> {
  const outcome = await order.outcome({ item }, SCOPE);
  const { id, status } = outcome;
  return { id, status, effectId: outcome.status === "committed" ? outcome.result?.id : undefined };
}
