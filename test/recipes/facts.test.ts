import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as recipes from "../../src/recipes/index.ts";

const { recipeFacts, keyWindows, ...functions } = recipes;

describe("docs/recipes.md", () => {
  const page = readFileSync("docs/recipes.md", "utf8");
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));

  test("says of each recipe what the code says, and of no other", () => {
    const said = rows.map(([, name = "", keyGoes, window, reads, cannotKnow]) => [
      name.replaceAll("`", ""),
      { keyGoes, window, reads, cannotKnow },
    ]);
    expect(Object.fromEntries(said)).toEqual(recipeFacts);
  });
});

test("every recipe has its facts", () => {
  expect(Object.keys(recipeFacts).sort()).toEqual(Object.keys(functions).sort());
});

test("the windows are those of the services' documentation", () => {
  const hours = Object.entries(keyWindows).map(([name, { forMs }]) => [name, forMs / 3_600_000]);
  expect(Object.fromEntries(hours)).toEqual({
    stripeV1: 24,
    resend: 24,
    paypalPayments: 45 * 24,
    paypalOrders: 6,
    shopify: 24,
    zendesk: 2,
    adyen: 24,
    telnyx: 24,
    agenticCommerce: 24,
    sqlRow: 24,
  });
});
