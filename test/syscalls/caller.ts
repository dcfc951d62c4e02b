/**
 * A process that makes one guarded call, and that a fault strikes at one of its system calls. Says
 * what the caller was told.
 *
 * @module
 */

import { hangUp, hear, tell } from "../processes/parent.ts";
import { openSwept, SCOPE, type Swept } from "./tools.ts";

export interface CallOrder {
  readonly tag: "call";
  readonly swept: Swept;
}

/** What the caller was told: a status, or the code of an error. */
export interface Told {
  readonly tag: "told";
  readonly status: string;
  readonly effectId?: string | undefined;
}

const { swept } = await hear<CallOrder>("call");
const { hf, order } = openSwept(swept);
await tell({ tag: "ready" });
// The window begins: what came before is Node's own start, and the imports.
await hear("go");
await tell<Told>(await call());
// Whoever closes has been told; that the disk fails now is an error, and no end of the process.
await hf.close().catch(() => {});
hangUp();

async function call(): Promise<Told> {
  try {
    const outcome = await order.outcome({ item: swept.item }, SCOPE);
    const effectId = outcome.status === "committed" ? outcome.result?.id : undefined;
    return { tag: "told", status: outcome.status, effectId };
  } catch (error) {
    const { code = String(error) } = error as { readonly code?: string };
    return { tag: "told", status: code };
  }
}
