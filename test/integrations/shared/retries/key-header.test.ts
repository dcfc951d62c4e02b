import { expect, test } from "vitest";
import { namesKey, withKey } from "../../../../src/integrations/shared/stainless/key-header.ts";

const KEY = ["Idempotency-Key", "k"] as const;

test("the key is added to headers of any form, and the caller's own stay as they were", () => {
  const given = new Headers({ "x-a": "1" });
  expect(withKey(undefined, "k")).toEqual({ [KEY[0]]: "k" });
  expect(withKey({ "x-a": "1" }, "k")).toEqual({ "x-a": "1", [KEY[0]]: "k" });
  expect(withKey([["x-a", "1"]], "k")).toEqual([["x-a", "1"], KEY]);
  expect(withKey(given, "k")).toEqual([["x-a", "1"], KEY]);
  expect([...given.keys()]).toEqual(["x-a"]);
});

test("the SDKs' own form keeps its mark", () => {
  const mark = Symbol("mark");
  const given = { [mark]: true, values: new Headers({ "x-a": "1" }), nulls: new Set(["x-b"]) };
  const made = withKey(given, "k") as typeof given;
  expect(made[mark]).toBe(true);
  expect(made.values.get("idempotency-key")).toBe("k");
  expect(made.nulls).toBe(given.nulls);
  expect(given.values.has("idempotency-key")).toBe(false);
});

test("a key of the caller's wins, and so does leaving it out on purpose", () => {
  const forms = [
    { "idempotency-KEY": "mine" },
    { "Idempotency-Key": null },
    [["idempotency-key", "mine"]],
    new Headers({ "Idempotency-Key": "mine" }),
    { values: new Headers(), nulls: new Set(["idempotency-key"]) },
    { values: new Headers({ "Idempotency-Key": "mine" }), nulls: new Set() },
  ];
  for (const form of forms) {
    expect(withKey(form, "k")).toBe(form);
    expect(namesKey(form)).toBe(true);
  }
  expect(namesKey(undefined)).toBe(false);
  expect(namesKey({ "x-a": "1" })).toBe(false);
});
