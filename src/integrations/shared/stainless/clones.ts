/**
 * Which clients are owned: those given to `ownRetries`, and their clones.
 *
 * A clone made later is known by its making. One made before left no trace, so it is recognised: a
 * clone (never a client built by hand) of the same class, for the same address and the same account.
 * With another address or account it must be given to `ownRetries` itself.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";
import type { Owning } from "./own-options.ts";
import type { AnswersHad } from "./recorded-step.ts";

/** By whom and how a client is owned. */
export interface Owner {
  readonly hf: object;
  readonly options: Owning;
  /** For steps in a scope that was named and not entered. */
  readonly answersHad: AnswersHad;
}

const owners = new WeakMap<object, Owner>();
/** The owned client that a clone goes back to. */
const origins = new WeakMap<object, object>();
/** All owned clients that are still in use, the latest last. */
const owned = new Set<WeakRef<object>>();
const forgotten = new FinalizationRegistry<WeakRef<object>>((ref) => owned.delete(ref));

export function setOwner(client: object, hf: object, options: Owning): void {
  if (!owners.has(client)) {
    const ref = new WeakRef(client);
    owned.add(ref);
    forgotten.register(client, ref);
  }
  owners.set(client, { hf, options, answersHad: new Map() });
}

export function ownerOf(client: object): Owner | undefined {
  return owners.get(originOf(client) ?? client);
}

/** A clone follows the client it was made of, whatever it was made for. */
export function addClone(client: object, clone: unknown): void {
  const origin = originOf(client);
  if (origin && typeof clone === "object" && clone !== null) origins.set(clone, origin);
}

function originOf(client: object): object | undefined {
  if (owners.has(client)) return client;
  const known = origins.get(client);
  if (known) return known;
  const found = [...owned].findLast((ref) => isCloneOf(client, ref.deref()))?.deref();
  if (found) origins.set(client, found);
  return found;
}

/** `withOptions` hands all of these on, set or not; a client built by hand never has all of them. */
const HANDED_ON = ["maxRetries", "timeout", "logger", "logLevel", "fetch", "fetchOptions"];
const ADDRESS = ["baseURL", "organization", "project"];
/** As they were given: a key from a function changes over time. */
const ACCOUNT = ["apiKey", "adminAPIKey", "workloadIdentity", "provider", "credential"];

function isCloneOf(client: object, other: object | undefined): boolean {
  if (!other || client.constructor !== other.constructor) return false;
  const options = peek(client, "_options");
  if (typeof options !== "object" || options === null) return false;
  if (!HANDED_ON.every((name) => Object.hasOwn(options, name))) return false;
  // Clones of one client share this, and no other client does.
  const auth = peek(client, "_authState");
  if (auth !== undefined) return auth === peek(other, "_authState");
  return (
    ADDRESS.every((name) => peek(client, name) === peek(other, name)) &&
    ACCOUNT.every((name) => peek(options, name) === peek(peek(other, "_options"), name))
  );
}
