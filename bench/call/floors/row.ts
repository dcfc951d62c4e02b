/**
 * What a floor writes for one call: a row of the size that holdfire's record has, and nothing that
 * takes time to make.
 *
 * @module
 */

import { hash } from "node:crypto";
import { type Order, type Receipt, requestOf } from "../guard.ts";

/** The owner of a claim: what fences a settle. */
export const OWNER = "2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d";
export const LEASE_MS = 25_000;

/** A record with a claim has 480 characters, one with a small result has 560. */
const CLAIM = "c".repeat(340);
const RESULT = "r".repeat(500);

export interface Row {
  readonly key: string;
  readonly claimed: string;
  settled(receipt: Receipt): string;
}

/** In order, as a hand-written ledger that mints its own keys has them. */
export const inOrder = (order: Order): string => requestOf(order).padStart(43, "0");

/** Derived from what is asked for, so that every process has the same key, and in no order. */
export const hashed = (order: Order): string => hash("sha256", requestOf(order), "base64url");

export const rowOf = (order: Order, keyOf: (order: Order) => string = inOrder): Row => ({
  key: keyOf(order),
  claimed: CLAIM + JSON.stringify(order),
  settled: (receipt) => RESULT + JSON.stringify(receipt),
});

export const receiptIn = (settled: string): Receipt =>
  JSON.parse(settled.slice(RESULT.length)) as Receipt;
