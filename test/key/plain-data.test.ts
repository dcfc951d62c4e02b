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

test("a class without a name, and a prototype without a class, are called a class", () => {
  const nameless = "must be plain data, not an instance of a class.";
  expect(whyNotPlain(new (class {})())).toBe(nameless);
  expect(whyNotPlain(Object.create({ a: 1 }))).toBe(nameless);
  expect(whyNotPlain(Object.create({ constructor: "Money" }))).toBe(nameless);
  expect(whyNotPlain(Object.create({ constructor: { name: "Money" } }))).toBe(nameless);
});

test("an instance is not plain because its class has methods that every object has", () => {
  class Node {
    isPrototypeOf(): boolean {
      return false;
    }
  }
  expect(whyNotPlain(new Node())).toBe('must be plain data, not an instance of "Node".');
});
