import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { digestText } from "../../src/key/digest.ts";
import { currentScope, enterScope, SEPARATOR } from "../../src/key/scope.ts";
import { namedTurnScope, threadOf, turnScope } from "../../src/key/turn.ts";

const SEALED = /^[\w-]{22}\.[\w-]{12}$/;

/** What follows the label in the scope of a turn. */
const restOf = (scope: string, before: string): string => {
  expect(scope.startsWith(before)).toBe(true);
  return scope.slice(before.length);
};

describe("turnScope", () => {
  test("it is the thread, how often a person spoke, a digest and a seal", () => {
    expect(restOf(turnScope("chat-7", ["Hi", "Pay p1"]), "chat-7/turn-2-")).toMatch(SEALED);
    expect(restOf(turnScope("chat-7", []), "chat-7/turn-0-")).toMatch(SEALED);
  });

  test("the same words in the same thread are the same turn, in this release and the next", () => {
    expect(turnScope("chat-7", ["Hi", "Pay p1"])).toBe(turnScope("chat-7", ["Hi", "Pay p1"]));
    expect(turnScope("chat-7", ["Hi", "Pay p1"])).toBe(
      "chat-7/turn-2-nLVJ5M5Y-ZcNiTkSBABaWx.RPz3hZB0Jlji",
    );
    expect(namedTurnScope("chat-7", "msg 1")).toBe(
      "chat-7/turn-msg_1-8LKQaH9nA_lbnILA1uh5Pq.6xhkkEjNw9TM",
    );
  });

  test("other words, the same words again and another thread are another turn", () => {
    const turns = [
      turnScope("chat-7", ["Pay p1"]),
      turnScope("chat-7", ["Pay p2"]),
      turnScope("chat-7", ["Pay p1", "Pay p1"]),
      turnScope("chat-7", ["Pay", "p1"]),
      turnScope("chat-8", ["Pay p1"]),
    ];
    const digests = turns.map((turn) => turn.replace(/^.*turn-\d-/, ""));
    expect(new Set(digests).size).toBe(turns.length);
  });

  test.each(["", " a", "a\u001fb", "x".repeat(513)])("the thread %j is refused", (thread) => {
    expect(() => turnScope(thread, ["Hi"])).toThrow(InvalidInputError);
    expect(() => namedTurnScope(thread, "1")).toThrow(InvalidInputError);
  });

  test("a thread that leaves no room for the turn is refused, and nothing is cut", () => {
    const longest = "x".repeat(512 - "/turn-1-".length - 22 - ".".length - 12);
    expect(turnScope(longest, ["Hi"])).toHaveLength(512);
    expect(() => turnScope(`${longest}x`, ["Hi"])).toThrow("scope: must not be longer than 512");
  });
});

describe("namedTurnScope", () => {
  test("a name of letters, digits, dots, dashes and underscores is its own label", () => {
    const scope = namedTurnScope("chat-7", "Msg_0.1-b");
    expect(restOf(scope, "chat-7/turn-Msg_0.1-b-")).toMatch(SEALED);
  });

  test("each other character of the name is an underscore in the label", () => {
    const scope = namedTurnScope("chat-7", "é/a b\u{1f600}:c");
    expect(restOf(scope, "chat-7/turn-__a_b__c-")).toMatch(SEALED);
  });

  test("the label is cut at 40 characters, and names that differ behind them are two turns", () => {
    const label = "n".repeat(40);
    const one = restOf(namedTurnScope("chat-7", `${label}1`), `chat-7/turn-${label}-`);
    const other = restOf(namedTurnScope("chat-7", `${label}2`), `chat-7/turn-${label}-`);
    expect(one).toMatch(SEALED);
    expect(other).not.toBe(one);
  });

  test("names with the same label, and equal names in two threads, are two turns", () => {
    const turns = [
      namedTurnScope("chat-7", "a b"),
      namedTurnScope("chat-7", "a_b"),
      namedTurnScope("chat-8", "a b"),
      turnScope("chat-7", ["a b"]),
    ];
    expect(new Set(turns.map((turn) => turn.slice(-35))).size).toBe(turns.length);
  });

  test.each(["", " 1", "a\nb", "x".repeat(513)])("the name %j is refused", (name) => {
    expect(() => namedTurnScope("chat-7", name)).toThrow(InvalidInputError);
  });
});

describe("threadOf", () => {
  test.each(["chat-7", "a/b", "a/turn-b", "a.b", "/turn-"])(
    "a turn of the thread %j belongs to it",
    (thread) => {
      expect(threadOf(turnScope(thread, ["Hi"]))).toBe(thread);
      expect(threadOf(namedTurnScope(thread, "msg.7"))).toBe(thread);
    },
  );

  test("a scope inside of a turn loses the turn and keeps the rest", () => {
    const inside = enterScope("job", () =>
      enterScope(turnScope("chat-7", ["Hi"]), () => enterScope("step-1", currentScope)),
    );
    expect(threadOf(inside?.id ?? "")).toBe(["job", "chat-7", "step-1"].join(SEPARATOR));
  });

  test.each([
    "chat-7",
    "chat-7/turn-3",
    "chat-7/turn-3.0123456789ab",
    `chat-7/turn-1-${"x".repeat(22)}.${"y".repeat(12)}`,
    `chat-7/turn-1-${"x".repeat(22)}-${"y".repeat(12)}`,
    "",
  ])("%j is no turn, whatever it looks like", (scope) => {
    expect(threadOf(scope)).toBeUndefined();
  });

  test("a turn with another thread, another seal or a cut one is none", () => {
    const turn = turnScope("chat-7", ["Hi"]);
    expect(threadOf(turn.replace("chat-7", "chat-8"))).toBeUndefined();
    expect(threadOf(turn.slice(0, -1))).toBeUndefined();
    expect(threadOf(`${turn}x`)).toBeUndefined();
    expect(threadOf(turn.replace(/\.(?=[\w-]{12}$)/, "-"))).toBeUndefined();
  });

  test("a sealed name without a turn is a scope like others", () => {
    const name = "chat-7/step-1";
    const scope = `${name}.${digestText("turn-seal", name).slice(0, 12)}`;
    expect(threadOf(scope)).toBeUndefined();
  });
});
