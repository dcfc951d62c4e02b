import { expect, test } from "vitest";
import { addressOf } from "../../src/ledger/address.ts";

test("the address is host, port and database of the client, and the name in it", () => {
  const options = { host: "db.internal", port: 5432, user: "ana", password: "secret" };
  expect(addressOf("holdfire", [options, { database: "ledger" }])).toBe(
    "db.internal/5432/ledger/holdfire",
  );
  expect(addressOf("hf:", [{ path: "/run/redis.sock", db: 0 }])).toBe("/run/redis.sock/0/hf:");
});

test("of a client with several hosts, the first one counts", () => {
  expect(addressOf("holdfire", [{ host: ["one", "two"], port: [5432, 5433] }])).toBe(
    "one/5432/holdfire",
  );
});

test("what a client keeps elsewhere, or in another form, is left out", () => {
  expect(addressOf("holdfire", [undefined, null, "host", { host: { name: "one" } }, {}])).toBe(
    "holdfire",
  );
});
