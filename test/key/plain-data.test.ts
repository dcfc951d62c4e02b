import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { whyNotPlain } from "../../src/key/json.ts";

test("literals, bare objects and objects of another realm are plain", () => {
  const foreign: object = runInContext("({})", createContext());
  expect([{}, Object.create(null), foreign].map(whyNotPlain)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("an instance is not plain, and its class is named", () => {
  class Money {}
  class Bare {}
  Object.setPrototypeOf(Bare.prototype, null);
  expect(whyNotPlain(new Money())).toBe('must be plain data, not an instance of "Money".');
  expect(whyNotPlain(new Bare())).toBe('must be plain data, not an instance of "Bare".');
  expect(whyNotPlain(new Map())).toBe('must be plain data, not an instance of "Map".');
  expect(whyNotPlain(runInContext("new Map()", createContext()))).toContain('"Map"');
});
