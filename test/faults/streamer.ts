/**
 * A process that makes one guarded call after the other, several at a time, and says what each was
 * told. Whoever is not told how it ended asks again, as a caller would.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { hangUp, hear, tell } from "../processes/parent.ts";
import { openPlace, type Place } from "../processes/place.ts";
import { CLASSES, orderTool, type SweptClass } from "../syscalls/tools.ts";

export interface StreamOrder {
  readonly tag: "stream";
  readonly place: Place;
  readonly url: string;
  readonly witness: string;
}

/** What one call was told; `again`: when all was over, and it was made once more. */
export interface Told {
  readonly tag: "told" | "again";
  readonly item: string;
  readonly class: SweptClass;
  /** A status, or the code of an error. */
  readonly status: string;
  readonly effectId?: string | undefined;
  /** When the item was first asked for, and when this was told: on the host's clock. */
  readonly begun: number;
  readonly at: number;
  /** Whether the caller leaves it at that. */
  readonly isLast: boolean;
}

export interface Ended {
  readonly tag: "ended";
  readonly suspicions: readonly string[];
}

const CALLERS = 12;
/** How long a caller waits before it asks again. */
const PAUSE_MS = 50;

const order = await hear<StreamOrder>("stream");
const { store, end } = await openPlace(order.place);
const hf = createHoldfire({
  app: "stream",
  store,
  witness: fileWitness({ folder: order.witness }),
  // Shorter than the trouble: calls give up, and owners lose their leases in the middle of it.
  retry: { storeTimeoutMs: 500, leaseMs: 1_500, minDelayMs: 1, maxDelayMs: 50, budget: false },
});
const suspicions: string[] = [];
hf.on("store", (event) => {
  if (event.status === "suspect") suspicions.push(event.why);
});
const tools = {
  keyed: orderTool(hf, "keyed", order.url),
  readable: orderTool(hf, "readable", order.url),
  neither: orderTool(hf, "neither", order.url),
};
const asked = new Map<string, SweptClass>();
let isOver = false;
const callers = Array.from({ length: CALLERS }, (_, index) => callOnAndOn(`caller ${index}`));
await hear("enough");
isOver = true;
await Promise.all(callers);
for (const [item, toolClass] of asked) {
  const begun = Date.now();
  const answer = await ask(item, toolClass);
  const at = Date.now();
  await tell<Told>({ tag: "again", item, class: toolClass, ...answer, begun, at, isLast: true });
}
await hf.close();
await end();
await tell<Ended>({ tag: "ended", suspicions });
hangUp();

async function callOnAndOn(name: string): Promise<void> {
  for (let count = 0; !isOver; count += 1) {
    const toolClass = CLASSES[count % CLASSES.length] ?? "keyed";
    await askUntilTold(`${name}, ${count}`, toolClass);
  }
}

async function askUntilTold(item: string, toolClass: SweptClass): Promise<void> {
  const begun = Date.now();
  asked.set(item, toolClass);
  for (;;) {
    const { status, effectId } = await ask(item, toolClass);
    const isLast = !asksAgain(status, toolClass);
    const at = Date.now();
    await tell<Told>({ tag: "told", item, class: toolClass, status, effectId, begun, at, isLast });
    if (isLast) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** What nobody can read stays in doubt, however often it is asked for. */
function asksAgain(status: string, toolClass: SweptClass): boolean {
  if (status === "unknown") return toolClass !== "neither";
  return status === "in_progress" || status === "ERR_HOLDFIRE_STORE_UNAVAILABLE";
}

async function ask(
  item: string,
  toolClass: SweptClass,
): Promise<Pick<Told, "status" | "effectId">> {
  try {
    const outcome = await tools[toolClass].outcome({ item }, { scope: "stream" });
    const effectId = outcome.status === "committed" ? outcome.result?.id : undefined;
    return { status: outcome.status, effectId };
  } catch (error) {
    const { code = String(error) } = error as { readonly code?: string };
    return { status: code };
  }
}
