/**
 * holdfire on each of its stores. The tool declares what its author knows of the service: a key, a reader, a unique
 * name. Times are shortened so that a cell is quick; everything else is the default.
 *
 * @module
 */

import { join } from "node:path";
import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import type { GuardedTool } from "../../../src/engine/call/guarded-tool.ts";
import type { AttemptContext } from "../../../src/engine/define/definition.ts";
import {
  absent,
  committed,
  duplicated,
  type Reading,
  type StateQuery,
} from "../../../src/engine/define/reading.ts";
import { StoreUnavailableError } from "../../../src/errors.ts";
import { fileWitness } from "../../../src/ledger/witness/witness-file.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { openPlace } from "../../../test/processes/place.ts";
import { mortalStore } from "../mortal-store.ts";
import {
  type Answer,
  type Ask,
  inProgress,
  type Place,
  type Said,
  type Stack,
  type Tool,
} from "../stack.ts";
import { findOrders, type Order, orderFrom, placeOrder, type Receipt } from "../tool-body.ts";

type StoreName = "memory" | "sqlite" | "redis" | "postgres";

const RETRY = { leaseMs: 1_500, cooldownMs: 500 };
const DEADLINE_MS = 10_000;
const PAGE = 500;

async function storeAt(name: StoreName, { ledger, folder, redisUrl, postgresUrl, schema }: Place) {
  switch (name) {
    case "memory":
      return memoryStore();
    case "sqlite":
      return (await openPlace({ store: "sqlite", path: join(folder, `${ledger}.db`) })).store;
    case "redis": {
      const url = redisUrl ?? "";
      const prefix = `${schema}:`;
      return (await openPlace({ store: "redis", url, prefix, client: "node-redis" })).store;
    }
    case "postgres": {
      const url = postgresUrl ?? "";
      return (await openPlace({ store: "postgres", url, schema, client: "pg" })).store;
    }
  }
}

async function open(name: StoreName, place: Place): Promise<Holdfire> {
  const store = mortalStore(await storeAt(name, place));
  // A file is a ledger of its own; in Redis and Postgres all processes have one.
  const ledger = name === "sqlite" ? place.ledger : "shared";
  const folder = join(place.folder, `${name}-witness`);
  const witness = { witness: fileWitness({ folder, name: ledger }) };
  return createHoldfire({
    app: "battery",
    store,
    retry: { ...RETRY, ...place.retry },
    ...(name === "memory" ? {} : witness),
  });
}

type OrderTool = GuardedTool<Order, Receipt>;

/** What a tool of this class declares. */
function powersOf(tool: Tool) {
  const { commitsWithinMs } = tool;
  const readState = async ({ key, fetch, signal }: StateQuery<unknown>) =>
    readingOf(await findOrders(tool, { key }, { fetch, signal }));
  switch (tool.class) {
    case "keyed":
      return { keyed: { forMs: tool.keyMemoryMs } };
    case "readable":
      return { readState, commitsWithinMs };
    case "conditional":
      return { precondition: "given" as const, readState, commitsWithinMs };
    case "neither":
      return {};
    case "liar":
      return {
        readState,
        commitsWithinMs,
        verify: async ({ id }: Receipt, { signal }: { readonly signal: AbortSignal }) =>
          (await findOrders(tool, {}, { signal })).some((found) => found.id === id),
      };
  }
}

function readingOf(found: readonly Receipt[]): Reading<Receipt> {
  const [first, second] = found;
  if (!first) return absent();
  return second ? duplicated(found) : committed(first, { effectId: first.id });
}

/** It says nothing of what became of the call, and to make the same one again. */
function storeTrouble(error: unknown): { readonly status: "store_trouble"; readonly error: Error } {
  if (error instanceof StoreUnavailableError) return { status: "store_trouble", error };
  throw error;
}

const withoutNote = ({ item, cents }: Order) => ({ item, cents });

const toolFor = (hf: Holdfire, tool: Tool, place: Place): OrderTool =>
  hf.tool<Order, Receipt, Partial<Order>>({
    name: "order",
    kind: "write",
    // Each cell has a retry budget of its own, as each service has.
    service: place.name,
    via: "http",
    ...(tool.wording === "none" ? {} : { intent: withoutNote }),
    run: (order: Order, { key, fetch, signal }: AttemptContext) =>
      placeOrder(tool, order, { key, fetch, signal }),
    effect: { id: ({ id }) => id },
    // The exporter's requests are no part of the order.
    ignores: [({ url }) => url.endsWith("/telemetry")],
    attemptTimeoutMs: tool.timeoutMs,
    readTimeoutMs: tool.timeoutMs,
    deadlineMs: DEADLINE_MS,
    ...powersOf(tool),
  });

const SAID: Readonly<Record<string, Said>> = {
  committed: "done",
  not_applied: "failed",
  denied: "failed",
};

/** Whatever is not settled may still happen: unknown, in progress, held. */
const saidBy = (status: string): Said => SAID[status] ?? "unknown";

/** What the ledger says of each wish; the last operation for it counts. */
async function standingsOf(hf: Holdfire): Promise<Readonly<Record<string, Said>>> {
  const found: [string, Said][] = [];
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ limit: PAGE, cursor });
    for (const { aliases, status } of page.items) {
      for (const alias of aliases) found.push([alias, saidBy(status)]);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return Object.fromEntries(found);
}

const opened = new Map<string, Promise<Holdfire>>();

const holdfireOn = (store: StoreName): Stack => ({
  name: `holdfire, ${store}`,
  says: `holdfire on its ${store} store`,
  packages: ["holdfire"],
  reads: true,
  isHoldfire: true,
  isInMemory: store === "memory",
  needs: store === "redis" || store === "postgres" ? [store] : [],
  refuses: (toolClass) =>
    store === "memory" && toolClass === "neither"
      ? "a store that forgets refuses a tool with neither a key nor a reader"
      : undefined,
  async setUp(tool, place) {
    const base = opened.get(place.ledger) ?? open(store, place);
    opened.set(place.ledger, base);
    const hf = (await base).forTenant(place.name);
    const order = toolFor(hf, tool, place);
    return {
      async call(ask: Ask): Promise<Answer> {
        const { thread, turn, again, wish } = ask;
        const calling = hf.scope({ thread, turn }, () =>
          order.outcome(orderFrom(ask), { again, aliases: [wish] }),
        );
        const outcome = await calling.catch(storeTrouble);
        if (outcome.status === "store_trouble") return inProgress(outcome.error);
        const reason = "reason" in outcome ? `, ${outcome.reason}` : "";
        const { status, attempts } = outcome;
        // Its hint then: nothing was sent, the same call reads again; or: it is still under way.
        const askAgain = status === "in_progress" || (status === "unknown" && attempts === 0);
        return { said: saidBy(status), words: `${status}${reason}`, askAgain };
      },
      async reconcile() {
        await hf.reconcile({ resend: true });
      },
      standing: async ({ wish }) => (await standingsOf(hf))[wish],
      standings: () => standingsOf(hf),
      async close() {},
    };
  },
});

export const memory: Stack = holdfireOn("memory");
export const sqlite: Stack = holdfireOn("sqlite");
export const redis: Stack = holdfireOn("redis");
export const postgres: Stack = holdfireOn("postgres");
