/**
 * "Try again": the same intent in a later turn of a thread is the same operation while it is open, and until a caller
 * has been told what became of it. So there is no second key while the first may still land.
 *
 * Each operation of the thread with this intent has a place (`ledger/places.ts`). A call takes the one at the end only when
 * all before it are over, and is made under the id of whoever has that place: of two calls at once, one joins the other.
 *
 * @module
 */

import { digestText } from "../key/digest.ts";
import { type Places, placesOf } from "../ledger/places.ts";
import { isOpen, type OperationRecord, type Stored } from "../ledger/record.ts";
import type { Engine } from "./engine.ts";
import type { Operation } from "./operation/operation.ts";
import { askStore } from "./store-call.ts";

/** No service of a user's: it has a control character. */
const JOINED = "\u001ejoined";

/** The operation that a call of a thread belongs to. */
export interface Joined {
  readonly id: string;
  /** It certainly did not happen, and no caller was told so: the call fires it. */
  readonly retry?: string | undefined;
}

export async function joinInThread(own: Operation, engine: Engine): Promise<Joined | undefined> {
  const places = placesIn(own, engine);
  const { ledger } = engine;
  const { tenant, id } = own.ref;
  const ask = <T>(question: Promise<T>): Promise<T> => askStore(engine, "thread", question);

  const joinOf = async (other: string): Promise<Joined> => {
    const joined = await ask(keepJoined(own, other, engine));
    const stored = await ask(ledger.read({ tenant, id: joined }));
    const isNews = stored?.record.state.tag === "not_applied" && stored.record.untold;
    return { id: joined, retry: isNews ? "asked for again in the thread" : undefined };
  };
  const visit = async (other: string, isLast: boolean): Promise<Joined | undefined> => {
    if (other === id && isLast) return { id };
    const stored = await ask(ledger.read({ tenant, id: other }));
    // Its own did not happen, and others have come since: one of them may still land.
    if (other === id) return mayBeFired(stored) ? undefined : { id };
    // One that has a place and no record is about to be claimed; with others after it, it is gone.
    if (stored ? !isOver(stored.record) : isLast) return joinOf(other);
    const before = await ask(ledger.store.ownerOf(tenant, JOINED, turnOf(own)));
    return before === undefined ? undefined : joinOf(before);
  };
  // Enlisted, its place would stand in a transaction that others would have to wait for.
  return engine.enlisted ? places?.find(visit) : places?.join(id, visit);
}

/** What one turn has joined it joins again, also when that is over by then. Returns what it has joined. */
export const keepJoined = (own: Operation, id: string, { ledger }: Engine): Promise<string> =>
  ledger.store.own(own.ref.tenant, JOINED, turnOf(own), id);

/**
 * Whether a claim that fires has its place, or gets it: one that was withdrawn meanwhile has let it go. If another
 * turn has fired since, it must not be fired. Both look after they have claimed, so one of them sees the other.
 */
export async function hasPlace(operation: Operation, engine: Engine): Promise<boolean> {
  const { tenant, id } = operation.ref;
  const places = engine.enlisted ? undefined : placesIn(operation, engine);
  const found = await places?.join(id, async (other, isLast) => {
    if (other === id) return undefined;
    const reading = engine.ledger.read({ tenant, id: other });
    const stored = await askStore(engine, "thread", reading);
    return (stored ? isOver(stored.record) : !isLast) ? undefined : "taken";
  });
  return found !== "taken";
}

/** Whether a call may fire what is over, or was taken back. */
const mayBeFired = (stored: Stored | undefined): boolean =>
  !stored || (stored.record.state.tag === "not_applied" && isOver(stored.record));

const turnOf = ({ ref }: Operation): string => digestText("joined", ref.id);

function placesIn({ ref, inThread }: Operation, engine: Engine): Places | undefined {
  if (inThread === undefined) return undefined;
  const { store } = engine.ledger;
  return placesOf({ store, tenant: ref.tenant, name: inThread }, (question) =>
    askStore(engine, "thread", question),
  );
}

/** Whether the same intent in another turn is another operation. */
function isOver({ state, untold, abandonedFor }: OperationRecord): boolean {
  if (isOpen(state)) return false;
  const isGivenUp = state.tag === "not_applied" && abandonedFor !== undefined;
  return !untold || state.tag === "denied" || isGivenUp;
}
