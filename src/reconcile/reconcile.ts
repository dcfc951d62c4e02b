/**
 * `hf.reconcile`: goes through the open operations and settles what reading can settle. Several of
 * them share the work: each operation is taken by lease, and one that somebody holds is passed over.
 *
 * @module
 */

import { checkOptions } from "../engine/define/check.ts";
import type { Tool } from "../engine/define/tool.ts";
import { type Engine, inBackground } from "../engine/engine.ts";
import { askStore } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import type { Stored } from "../ledger/record.ts";
import { atOnce } from "./at-once.ts";
import { createReaderCheck } from "./check-reader.ts";
import { checkLimit, checkTime, chosenTools, listenerOf, type Tools } from "./options.ts";
import type { ReconcileOptions, ReconcileReport } from "./report.ts";
import { type How, settleOne } from "./settle-one.ts";
import { createTally } from "./tally.ts";

const OPTIONS = ["tools", "limit", "since", "resend", "signal", "onProgress", "cursor"];
const PAGE = 100;
/** A service that has just had a bad time is not asked everything at once. */
const AT_ONCE = 8;

export async function reconcile(
  options: ReconcileOptions,
  tools: Tools,
  engine: Engine,
): Promise<ReconcileReport> {
  if (engine.isClosed()) throw new ClosedError();
  checkOptions(options, OPTIONS, "reconcile");
  if (engine.enlisted) {
    throw new InvalidInputError("reconcile", "belongs to no transaction: call it on the outer hf");
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
  const { signal, resend = false } = options;
  const limit = checkLimit(options.limit, "reconcile");
  const since = checkTime(options.since, "reconcile.since");
  const tell = listenerOf(options.onProgress, "reconcile");
  const chosen = chosenTools(options.tools, tools, "reconcile");
  const { ledger, tenant } = engine;
  const mayGoOn = () => !signal?.aborted && !engine.isClosed();
  const tally = createTally();
  const checkReader = createReaderCheck(engine);
  await askStore(engine, "open", ledger.open());

  const look = async (one: { readonly stored: Stored; readonly tool: Tool }): Promise<void> => {
    const how: How = { resend, signal };
    await checkReader(one.tool);
    tally.add(await settleOne(one.stored, one.tool, how, engine));
    const progress = tally.progress();
    tell(progress);
    engine.events.emit("reconcile", () => ({ tenant, ...progress }));
  };

  let { cursor } = options;
  let ended: ReconcileReport["ended"] = "done";
  do {
    const left = limit - tally.progress().looked;
    if (!mayGoOn() || left <= 0) {
      ended = left <= 0 ? "limit" : "stopped";
      break;
    }
    const page = await askStore(
      engine,
      "list",
      ledger.store.list({
        tenant,
        states: ["unknown", "claimed"],
        tool: chosen.size === 1 && options.tools ? [...chosen.keys()][0] : undefined,
        since,
        cursor,
        limit: Math.min(PAGE, left),
      }),
    );
    const ours = page.items.flatMap((stored) => {
      const { tool: name, version } = stored.record;
      const tool = chosen.get(name);
      if (!tool) {
        if (!options.tools) tally.noTool(name);
        return [];
      }
      // A reader is made for the intents of its own version.
      if (version !== tool.version) {
        tally.otherVersion();
        return [];
      }
      const lives = stored.leaseUntil !== undefined && ledger.clock.latest() < stored.leaseUntil;
      if (lives) tally.add({ tag: "busy" });
      return lives ? [] : [{ stored, tool }];
    });
    await atOnce(AT_ONCE, shuffled(ours, engine.random), look, mayGoOn);
    if (!mayGoOn()) {
      ended = "stopped";
      break;
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { ended, ...tally.report(), cursor };
}

/** Reconcilers that start together do not take the same operations in the same order. */
function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
