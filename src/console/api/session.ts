/**
 * Who looks, and at what.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { askStore } from "../../engine/store-call.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { Store } from "../../ledger/store.ts";
import { VERSION } from "../../version.ts";
import type { Session } from "../model.ts";

export async function sessionOf(
  hf: Holdfire,
  { name, mayDecide }: { readonly name: string; readonly mayDecide: boolean },
): Promise<Session> {
  const engine = engineOf(hf);
  const { ledger, tenant } = engine;
  await askStore(engine, "open", ledger.open());
  const { store } = ledger;
  return {
    person: visible(name),
    mayDecide,
    tenant: visible(tenant),
    ledger: visible([store.name, ...placeOf(store)].join(" "), 120),
    version: VERSION,
    now: ledger.clock.latest(),
    suspect: ledger.suspicion()?.why,
  };
}

/** Of a path the end, which tells two ledgers of one machine apart and fits on a page. */
const placeOf = ({ address }: Pick<Store, "address">): readonly string[] =>
  address === undefined ? [] : [address.split("/").slice(-2).join("/")];
