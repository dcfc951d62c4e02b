/**
 * Mints the two names of an operation: its id in the ledger and the key that the service sees.
 *
 * The id is derived from app, tenant, scope, tool, `again` and intent, or from a key of the caller's; the key from the id and
 * its generation. Nothing in them is random, so every attempt, process and restart mints the same ones. They contain no
 * secret: a key is not a bearer token.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { validate, version } from "uuid";
import { InvalidInputError } from "../errors.ts";
import { canonicalize, type Limits } from "./canonical.ts";
import { beginning, digestFrom, digestText } from "./digest.ts";
import type { Json } from "./json.ts";
import { isJsonObject } from "./json.ts";

const MAX_GENERATION = 65_535;
const MAX_FIELDS = 64;
const MAX_FIELD_NAME = 128;
const FIELD_HASH_LENGTH = 8;

/** What makes two calls the same operation. */
export interface IdParts {
  /** The program, so that two programs with one account at a service never mint the same key. */
  readonly app: string | undefined;
  readonly tenant: string;
  readonly scope: string;
  readonly tool: string;
  /** Distinguishes a wanted repetition from an unwanted one. */
  readonly again?: string | undefined;
  /** The canonical text of the intent. */
  readonly intent: string;
}

/** What most ids of a process begin with, as it was made last. */
let common = { app: "", tenant: "", start: beginning("operation", "", "") } as {
  readonly app: string | undefined;
  readonly tenant: string;
  readonly start: string;
};

/** The operation's id: 43 characters of base64url. */
export function mintId({ app, tenant, scope, tool, again, intent }: IdParts): string {
  if (common.app !== app || common.tenant !== tenant)
    common = { app, tenant, start: beginning("operation", app, tenant) };
  return digestFrom(common.start, scope, tool, again, intent);
}

/** The id of an operation for which the caller gives the key; its intent is compared by fingerprint. */
export function mintIdFromKey({
  app,
  tenant,
  tool,
  key,
}: Pick<IdParts, "app" | "tenant" | "tool"> & { readonly key: string }): string {
  return digestText("operation-by-key", app, tenant, tool, key);
}

/** The key that the service sees: a UUID of version 8, a different one for each generation. */
export function wireKey(id: string, generation: number): string {
  if (!Number.isInteger(generation) || generation < 0 || generation > MAX_GENERATION) {
    throw new InvalidInputError("generation", `must be an integer from 0 to ${MAX_GENERATION}.`);
  }
  // Also checks the id.
  const first = keyFrom(id);
  return generation === 0 ? first : keyFrom(digestText("key", id, `${generation}`));
}

/** Filled anew for each key. */
const DIGEST = Buffer.alloc(32);

/**
 * The first 16 bytes of a digest as a UUID of version 8. Not by `stringify` of the package, which checks its own answer:
 * that takes three times as long, in every call.
 */
function keyFrom(name: string): string {
  if (DIGEST.write(name, "base64url") < 16)
    throw new InvalidInputError("id", "must be the id of an operation, as the ledger lists it.");
  DIGEST[6] = (DIGEST.readUInt8(6) & 0x0f) | 0x80;
  DIGEST[8] = (DIGEST.readUInt8(8) & 0x3f) | 0x80;
  const hex = DIGEST.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** All keys the service may have seen, oldest first. */
export function wireKeys(id: string, generation: number): readonly string[] {
  const newest = wireKey(id, generation);
  const older = Array.from({ length: generation }, (_, index) => wireKey(id, index));
  return [...older, newest];
}

/** Whether it may be a key that was minted here; a caller's own key is none. */
export const isWireKey = (key: string): boolean => validate(key) && version(key) === 8;

/** A hash of the intent: tells whether a key was used before for the same intent. */
export function fingerprint(tool: string, intentText: string): string {
  return digestText("fingerprint", tool, intentText);
}

/** Salted with the id, so that the ledger does not show that two operations have equal arguments. */
export function hashArguments(argsText: string, id: string): string {
  return digestText("arguments", id, argsText);
}

/**
 * A short salted hash of each top-level argument, to name those that change in a repeated call.
 * Only an object has them; names after the 64th, or longer than 128 characters, are left out.
 */
export function hashFields(args: Json, id: string, limits?: Limits): Record<string, string> {
  if (!isJsonObject(args)) return {};
  const named = Object.entries(args).filter(([name]) => name.length <= MAX_FIELD_NAME);
  const kept = named.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_FIELDS);
  // `fromEntries` defines properties instead of assigning them, so `__proto__` is an ordinary name.
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const { text } = canonicalize(value, `args.${name}`, limits);
      return [name, digestText("field", id, name, text).slice(0, FIELD_HASH_LENGTH)];
    }),
  );
}

/** The names, sorted, whose hashes differ or exist on one side only. */
export function rewordedFields(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => before[name] !== now[name]).sort();
}
