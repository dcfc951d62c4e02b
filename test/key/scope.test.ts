import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import {
  currentScope,
  enterOperation,
  enterScope,
  resolveScope,
  type Scope,
  showScope,
} from "../../src/key/scope.ts";

/** Run ids in the order they are asked for. */
function counter(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `run-${count}`;
  };
}

/** Its run is made when it is asked for first. */
const withRun = (scope: Scope | undefined) => scope && { ...scope, run: scope.run() };

const idInside = (id: string): string | undefined => enterScope(id, () => currentScope()?.id);

describe("enterScope", () => {
  test("outside of every scope there is none", () => {
    expect(currentScope()).toBeUndefined();
    expect(resolveScope(undefined)).toBeUndefined();
  });

  test("inside, the scope is the given one, and its function's result is passed on", () => {
    const random = counter();
    const scope = enterScope("turn-3", currentScope, { random });
    expect(withRun(scope)).toEqual({ id: "turn-3", run: "run-1", isRunNamed: false, fresh: false });
    expect(currentScope()).toBeUndefined();
  });

  test("it follows asynchronous work, and those beside each other do not mix", async () => {
    const work = async (): Promise<string | undefined> => {
      await setImmediate();
      return currentScope()?.id;
    };
    expect(await Promise.all([enterScope("a", work), enterScope("b", work), work()])).toEqual([
      "a",
      "b",
      undefined,
    ]);
  });

  test("an error leaves the scope", () => {
    const fail = (): never => {
      throw new Error("no");
    };
    expect(() => enterScope("a", fail)).toThrow("no");
    expect(currentScope()).toBeUndefined();
  });

  test("a nested scope adds a segment that no single scope can spell", () => {
    const nested = enterScope("a", () => idInside("b"));
    expect(nested).toBe("a\u001fb");
    expect(() => enterScope("a\u001fb", () => {})).toThrow(InvalidInputError);
    expect(enterScope("a", () => idInside("b/c"))).not.toBe(enterScope("a/b", () => idInside("c")));
  });

  test("each entry is a run of its own, unless the run is given", () => {
    const random = counter();
    const runs = (): (string | undefined)[] => [
      currentScope()?.run(),
      enterScope("inner", () => currentScope()?.run(), { random }),
    ];
    expect(enterScope("a", runs, { random })).toEqual(["run-1", "run-2"]);
    expect(enterScope("a", runs, { run: "mine", random })).toEqual(["mine", "run-3"]);
  });

  test("runs are random by default", () => {
    const run = (): string | undefined => enterScope("a", () => currentScope()?.run());
    expect(run()).not.toBe(run());
  });

  test("fresh holds for what is inside, unless that says otherwise", () => {
    const fresh = (options?: { fresh: boolean }): boolean | undefined =>
      enterScope("inner", () => currentScope()?.fresh, options);
    expect(enterScope("a", () => currentScope()?.fresh, { fresh: true })).toBe(true);
    expect(enterScope("a", () => fresh(), { fresh: true })).toBe(true);
    expect(enterScope("a", () => fresh({ fresh: false }), { fresh: true })).toBe(false);
    expect(enterScope("a", () => fresh())).toBe(false);
    expect(enterScope("a", () => enterOperation("op", currentScope), { fresh: true })?.fresh).toBe(
      true,
    );
  });

  test.each(["", " a", "a\n", "x".repeat(513)])(
    "the id %j is refused before anything runs",
    (id) => {
      let ran = false;
      const enter = (): void =>
        enterScope(id, () => {
          ran = true;
        });
      expect(enter).toThrow(InvalidInputError);
      expect(ran).toBe(false);
    },
  );

  test("2048 characters pass, separators included, and one more does not", () => {
    const inside = (last: number): string | undefined => {
      const part = "x".repeat(512);
      const innermost = (): string | undefined => idInside("y".repeat(last));
      return enterScope(part, () => enterScope(part, () => enterScope(part, innermost)));
    };
    expect(inside(509)).toHaveLength(2_048);
    expect(() => inside(510)).toThrow("scope: must not be longer than 2048 characters");
  });

  test("scopes nested without end are refused", () => {
    const descend = (): never => enterScope("x".repeat(512), descend);
    expect(descend).toThrow("2048 characters");
  });
});

describe("enterOperation", () => {
  test("an attempt's scope is the operation, whatever is around it", () => {
    const inside = (): string | undefined => enterOperation("op-1", () => currentScope()?.id);
    expect(inside()).toBe("\u001eop\u001fop-1");
    expect(enterScope("a", inside)).toBe(inside());
    expect(enterOperation("op-0", inside)).toBe(inside());
  });

  test("a scope inside an attempt is a segment of the operation's", () => {
    expect(enterOperation("op-1", () => idInside("step"))).toBe("\u001eop\u001fop-1\u001fstep");
  });

  test("each attempt is a run of its own", () => {
    const random = counter();
    const run = (): string | undefined =>
      enterOperation("op-1", () => currentScope()?.run(), { random });
    expect([run(), run()]).toEqual(["run-1", "run-2"]);
  });
});

describe("resolveScope", () => {
  const inside = (explicit?: string): [Scope | undefined, Scope | undefined] =>
    enterScope("a", () => [currentScope(), resolveScope(explicit)], { run: "r", fresh: true });

  test("without an explicit scope it is the ambient one", () => {
    const [ambient, resolved] = inside();
    expect(resolved).toBe(ambient);
  });

  test("an explicit scope with the ambient id is the ambient one, nested or not", () => {
    const [ambient, resolved] = inside("a");
    expect(resolved).toBe(ambient);
    enterScope("a", () =>
      enterScope("b", () => expect(resolveScope("a\u001fb")).toBe(currentScope())),
    );
  });

  test("another explicit scope replaces the ambient one and keeps its run", () => {
    const [, resolved] = inside("b");
    expect(withRun(resolved)).toEqual({ id: "b", run: "r", isRunNamed: true, fresh: false });
  });

  test("outside of every scope an explicit one has the run `direct`", () => {
    const told = { id: "b", run: "direct", isRunNamed: false, fresh: false };
    expect(withRun(resolveScope("b"))).toEqual(told);
  });

  test("an explicit scope is checked", () => {
    expect(() => resolveScope("")).toThrow(InvalidInputError);
    expect(() => resolveScope("a\u001fb")).toThrow(InvalidInputError);
  });
});

test("showScope is for people", () => {
  expect(showScope("turn-3")).toBe("turn-3");
  expect(enterScope("a", () => enterScope("b", () => showScope(currentScope()?.id ?? "")))).toBe(
    "a › b",
  );
  expect(enterOperation("abc", () => showScope(currentScope()?.id ?? ""))).toBe("operation › abc");
});
