/**
 * `hf.reconcile` and `hf.reconcileEvery`: go through the open operations and settle what a read can
 * settle. Several reconcilers share the work: each takes an operation by its lease and skips what another
 * process holds.
 *
 * @module
 */

import { checkOptions, positive } from "../engine/define/check.ts";
import type { Tool } from "../engine/define/tool.ts";
import { type Engine, inBackground } from "../engine/engine.ts";
import { askStore, listRecords } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import { matches } from "../ledger/query.ts";
import type { Stored } from "../ledger/record.ts";
import type { ListQuery, Page } from "../ledger/store.ts";
import { createReaderCheck } from "./check-reader.ts";
import { fewAtATime } from "./few-at-a-time.ts";
import { checkIds, checkLimit, checkTime, chosenTools, listenerOf, type Tools } from "./options.ts";
import { isOfProgram, isOfService } from "./recall-operation.ts";
import { createTally, type ReconcileOptions, type ReconcileReport } from "./report.ts";
import { settleOne } from "./settle-one.ts";

const OPTIONS = ["tools", "ids", "limit", "since", "resend", "signal", "onProgress", "cursor"];
const PAGE = 100;
/** A pause is up to this much shorter or longer, so that processes that start together spread out. */
const JITTER = 0.2;

export async function reconcile(
  options: ReconcileOptions,
  tools: Tools,
  engine: Engine,
): Promise<ReconcileReport> {
  if (engine.isClosed()) throw new ClosedError();
  checkOptions(options, OPTIONS, "reconcile");
  if (engine.enlisted) {
    throw new InvalidInputError(
      "reconcile",
      "cannot run inside a transaction; call it on the holdfire that enlist was called on.",
    );
  }
  const sweeping = sweep(options, tools, engine);
  inBackground(engine, () => sweeping.catch(() => {}));
  return sweeping;
}

async function sweep(
  options: ReconcileOptions,
  tools: Tools,
  engine: Engine,
): Promise<ReconcileReport> {
  // All of it now: a caller may use the object again, for its next pass.
  const { signal, resend = false, ids: named, tools: only } = options;
  let { cursor } = options;
  const limit = checkLimit(options.limit, "reconcile");
  const since = checkTime(options.since, "reconcile.since");
  const tell = listenerOf(options.onProgress, "reconcile");
  const chosen = chosenTools(only, tools, "reconcile");
  checkIds(named, limit);
  const ids = named && [...named];
  const { ledger, tenant } = engine;
  const mayGoOn = () => !signal?.aborted && !engine.isClosed();
  const tally = createTally();
  const checkReader = createReaderCheck(engine);
  await askStore(engine, "open", ledger.open());
  engine.tenantState.reconciles = true;

  const check = async (one: { readonly stored: Stored; readonly tool: Tool }): Promise<void> => {
    await checkReader(one.tool);
    tally.add(await settleOne(one.stored, one.tool, { resend, signal }, engine));
    const progress = tally.progress();
    tell(progress);
    engine.events.emit("reconcile", () => ({ tenant, ...progress }));
  };

  let ended: ReconcileReport["ended"] = "done";
  do {
    const left = limit - tally.progress().checked;
    if (!mayGoOn() || left <= 0) {
      ended = left <= 0 ? "limit" : "stopped";
      break;
    }
    const page = await pageOf(ids, engine, {
      states: SETTLED_BY_READING,
      tool: chosen.size === 1 && only ? [...chosen.keys()][0] : undefined,
      since,
      cursor,
      limit: Math.min(PAGE, left),
    });
    tally.unreadable(page.unreadable?.length ?? 0);
    const ours = page.items.flatMap((stored) => {
      const { tool: name, version } = stored.record;
      const tool = chosen.get(name);
      if (!isOfProgram(stored.record, engine)) {
        tally.otherApp();
        return [];
      }
      // The reader of another tool of this name would look in the wrong place.
      const isOther = (one: Tool) =>
        !isOfService(stored.record, one) || engine.calledBy.isOther(stored.record, one);
      if (!tool || isOther(tool)) {
        if (!only) tally.noTool(name);
        return [];
      }
      // A reader understands the intents of its own version only.
      if (version !== tool.version) {
        tally.otherVersion();
        return [];
      }
      const { leaseUntil } = stored;
      const isOwned = leaseUntil !== undefined && ledger.clock.latest() < leaseUntil;
      if (isOwned) tally.add({ tag: "busy" });
      return isOwned ? [] : [{ stored, tool }];
    });
    await fewAtATime(shuffled(ours, engine.random), check, mayGoOn);
    if (!mayGoOn()) {
      ended = "stopped";
      break;
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { ended, ...tally.report(), cursor };
}

const SETTLED_BY_READING = ["unknown", "claimed"] as const;

/** A page of the ledger, or those that were named: all at once, since they are few. */
async function pageOf(
  ids: readonly string[] | undefined,
  engine: Engine,
  query: Omit<ListQuery, "tenant">,
): Promise<Page> {
  if (!ids) return listRecords(engine, query);
  const { ledger, tenant } = engine;
  const named = await Promise.all(
    ids.map((id) => askStore(engine, "read", ledger.read({ tenant, id }))),
  );
  const isOpen = (stored: Stored) => matches(stored.record, { ...query, tenant });
  return { items: named.flatMap((stored) => (stored && isOpen(stored) ? [stored] : [])) };
}

/** Two reconcilers that start together take the operations in different orders. */
function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/**
 * One pass after another, never two at once. The timer keeps no process alive. Returns the function that
 * stops it; a pass under way then starts no further operation.
 */
export function reconcileEvery(
  ms: number,
  options: ReconcileOptions,
  pass: (options: ReconcileOptions) => Promise<ReconcileReport>,
  { clock, random, isClosed, events }: Engine,
): () => void {
  positive(ms, "reconcileEvery.ms");
  if (isClosed()) throw new ClosedError();
  const stop = new AbortController();
  const { signal } = options;
  let cancel = () => {};
  // The next pass continues where one stopped at its limit, so that operations at the head of the list
  // that stay unknown do not keep the others waiting.
  let { cursor } = options;

  const isOver = () => stop.signal.aborted || isClosed();
  const schedule = () => {
    if (isOver()) return;
    const pause = ms * (1 - JITTER + 2 * JITTER * random());
    cancel = clock.after(pause, () => void run(), true);
  };
  const run = async (): Promise<void> => {
    if (isOver()) return;
    try {
      const report = await pass({ ...options, cursor, signal: stop.signal });
      cursor = report.ended === "limit" ? report.cursor : options.cursor;
    } catch (error) {
      events.emit("store", () => ({ status: "error", step: "reconcile", error }));
    }
    schedule();
  };
  const end = () => {
    cancel();
    stop.abort();
    signal?.removeEventListener("abort", end);
  };
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  schedule();
  return end;
}
