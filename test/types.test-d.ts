import { describe, expectTypeOf, test } from "vitest";
import {
  absent,
  cannotTell,
  committed,
  createHoldfire,
  duplicated,
  type GuardedTool,
  inProgress,
  type NotAppliedReason,
  type Outcome,
  type Reading,
  type Reply,
  type StandardSchema,
  type StateQuery,
  type ToolOptions,
  typed,
  type UnknownReason,
} from "../src/index.ts";
import { memoryStore } from "../src/stores/memory.ts";

interface Args {
  readonly paymentId: string;
  readonly amount: number;
  readonly reason: string;
}
type Intent = { paymentId: string; amount: number };
interface Refund {
  readonly id: string;
  readonly amount: number;
}

const hf = createHoldfire({ store: memoryStore() });
const refund = async ({ amount }: Args, key = ""): Promise<Refund> => ({ id: key, amount });
const find = async (_: { readonly paymentId: string }): Promise<Refund[]> => [];
const args: Args = { paymentId: "p1", amount: 400, reason: "damaged" };
const base = { name: "refund_payment", kind: "write" } as const;

/** By hand, as any library of schemas would have it: its input is text, its output is `Args`. */
const schema: StandardSchema<Args> = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ value: args }) },
};

describe("arguments come from the input", () => {
  test("a schema's output is what every function of the tool is given", () => {
    const tool = hf.tool({
      ...base,
      input: schema,
      intent: ({ paymentId, amount }) => ({ paymentId, amount }),
      resource: ({ paymentId }) => `payment/${paymentId}`,
      precondition: ({ paymentId }) => paymentId,
      plan: ({ paymentId }) => ({ changes: [{ type: "update", target: paymentId }] }),
      run: (given, { key, attempt, signal }) => {
        expectTypeOf(given).toEqualTypeOf<Args>();
        expectTypeOf(attempt).toEqualTypeOf<number>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return refund(given, key);
      },
      readState: async ({ intent, key, keys, firstSentAt, taken }) => {
        expectTypeOf(intent).toEqualTypeOf<Intent>();
        expectTypeOf(key).toEqualTypeOf<string>();
        expectTypeOf(keys).toEqualTypeOf<readonly string[]>();
        expectTypeOf(firstSentAt).toEqualTypeOf<number>();
        expectTypeOf(taken).toEqualTypeOf<(effectId: string) => Promise<boolean>>();
        return absent();
      },
      effect: { type: (result) => (result.amount > 0 ? "created" : "noop"), id: ({ id }) => id },
      verify: (result, { intent }) => result.amount === intent.amount,
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("typed<Args>() names them without a schema, wherever it stands", () => {
    const first = hf.tool({ ...base, input: typed<Args>(), run: (given) => refund(given) });
    const last = hf.tool({
      ...base,
      intent: ({ paymentId }) => ({ paymentId }),
      run: (given, { key }) => refund(given, key),
      input: typed<Args>(),
    });
    expectTypeOf(first).toEqualTypeOf<GuardedTool<Args, Refund>>();
    expectTypeOf(last).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("a reader may stand before run", () => {
    const tool = hf.tool({
      ...base,
      input: schema,
      intent: ({ paymentId, amount }) => ({ paymentId, amount }),
      readState: async ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Intent>();
        const found = await find(intent);
        if (found.length > 1) return duplicated(found);
        return found[0] ? committed(found[0], { effectId: found[0].id }) : absent();
      },
      run: (given, { key }) => refund(given, key),
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("without an intent the reader is asked with all arguments", () => {
    hf.tool({
      ...base,
      readState: ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Args>();
        return inProgress();
      },
      input: schema,
      run: (given) => refund(given),
    });
  });
});

describe("without an input, arguments come from the first place that names their type", () => {
  test("run, with or without its context", () => {
    const one = hf.tool({ ...base, run: (given: Args) => refund(given) });
    const two = hf.tool({ ...base, run: (given: Args, { key }) => refund(given, key) });
    expectTypeOf(one).toEqualTypeOf<GuardedTool<Args, Refund>>();
    expectTypeOf(two).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("run before intent and reader", () => {
    const tool = hf.tool({
      ...base,
      run: (given: Args, { key }) => refund(given, key),
      intent: ({ paymentId, amount }) => ({ paymentId, amount }),
      readState: async ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Intent>();
        const [found] = await find(intent);
        return found ? committed(found) : cannotTell("nothing found");
      },
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("an intent before run", () => {
    const tool = hf.tool({
      ...base,
      intent: ({ paymentId, amount }: Args) => ({ paymentId, amount }),
      readState: async ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Intent>();
        const [found] = await find(intent);
        return found ? committed(found) : absent();
      },
      run: (given, { key }) => {
        expectTypeOf(given).toEqualTypeOf<Args>();
        return refund(given, key);
      },
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("a reader before a run that needs no context", () => {
    const tool = hf.tool({
      ...base,
      readState: async ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Args>();
        return absent();
      },
      run: (given: Args) => refund(given),
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });
});

describe("the result comes from run alone", () => {
  test("a reader that knows more does not change it", () => {
    const tool = hf.tool({
      ...base,
      run: (given: Args) => refund(given),
      readState: () => committed({ id: "r1", amount: 400, extra: true }),
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
  });

  test("a reading of something else does not fit", () => {
    type Reader = NonNullable<ToolOptions<Args, Intent, Refund>["readState"]>;
    type Gives<T> = (query: StateQuery<Intent>) => Promise<Reading<T>>;
    expectTypeOf<Gives<Refund>>().toExtend<Reader>();
    expectTypeOf<Gives<never>>().toExtend<Reader>();
    expectTypeOf<Gives<string>>().not.toExtend<Reader>();
    expectTypeOf<Gives<Pick<Refund, "id">>>().not.toExtend<Reader>();
  });

  test("a Response stays a Response", () => {
    const tool = hf.tool({
      ...base,
      keyed: { forMs: 86_400_000 },
      run: ({ url }: { url: string }, { key, signal }) =>
        fetch(url, { method: "POST", headers: { "idempotency-key": key }, signal }),
    });
    expectTypeOf(tool).toEqualTypeOf<GuardedTool<{ url: string }, Response>>();
  });

  test("a result may come without a promise", () => {
    const tool = hf.tool({
      name: "add",
      kind: "read",
      run: ({ a, b }: Record<"a" | "b", number>) => a + b,
    });
    expectTypeOf(tool({ a: 1, b: 2 })).toEqualTypeOf<Promise<number>>();
  });
});

describe("one call without a tool", () => {
  test("arguments name their own type", () => {
    const result = hf.run({
      ...base,
      scope: "conversation-7/turn-3",
      args,
      intent: ({ paymentId, amount }) => ({ paymentId, amount }),
      readState: async ({ intent }) => {
        expectTypeOf(intent).toEqualTypeOf<Intent>();
        const [found] = await find(intent);
        return found ? committed(found) : absent();
      },
      run: (given, { key }) => {
        expectTypeOf(given).toEqualTypeOf<Args>();
        return refund(given, key);
      },
    });
    expectTypeOf(result).toEqualTypeOf<Promise<Refund>>();
  });

  test("a schema's output goes before them", () => {
    const result = hf.run({
      ...base,
      key: "refund-p1",
      args,
      input: schema,
      run: (given, { key }) => {
        expectTypeOf(given).toEqualTypeOf<Args>();
        return refund(given, key);
      },
    });
    expectTypeOf(result).toEqualTypeOf<Promise<Refund>>();
  });

  test("run may say what it takes", () => {
    const result = hf.run({
      ...base,
      scope: "conversation-7/turn-3",
      args: { paymentId: "p1", amount: 400, reason: "damaged" },
      run: (given: Args, { key }) => refund(given, key),
    });
    expectTypeOf(result).toEqualTypeOf<Promise<Refund>>();
  });
});

describe("the three ways to call a tool", () => {
  const tool = hf.tool({ ...base, run: (given: Args) => refund(given) });

  test("for its result, its outcome, or what a model reads", () => {
    expectTypeOf(tool(args)).toEqualTypeOf<Promise<Refund>>();
    expectTypeOf(tool.outcome(args)).toEqualTypeOf<Promise<Outcome<Refund>>>();
    expectTypeOf(tool.reply(args)).toEqualTypeOf<Promise<Reply<Refund>>>();
    expectTypeOf(hf.scope("s", () => tool(args))).toEqualTypeOf<Promise<Refund>>();
  });

  test("an outcome is narrowed by its status", () => {
    type With<S> = Extract<Outcome<Refund>, { status: S }>;
    type Kept = Exclude<With<"committed">, { resultLost: true }>;
    expectTypeOf<Kept["result"]>().toEqualTypeOf<Refund>();
    expectTypeOf<With<"not_applied">["reason"]>().toEqualTypeOf<NotAppliedReason>();
    expectTypeOf<With<"unknown">["reason"]>().toEqualTypeOf<UnknownReason>();
    expectTypeOf<With<"denied">["by"]>().toEqualTypeOf<string>();
    expectTypeOf<With<"unknown">>().not.toHaveProperty("result");
    expectTypeOf<With<"held">>().not.toHaveProperty("result");

    const told = (outcome: Outcome<Refund>) => {
      switch (outcome.status) {
        case "committed":
          return outcome.resultLost ? outcome.id : outcome.result.id;
        case "not_applied":
        case "unknown":
        case "held":
          return outcome.reason;
        case "denied":
          return outcome.by;
        case "in_progress":
        case "conflict":
          return outcome.key;
      }
    };
    // Every status is told of: the switch leaves no way out without an answer.
    expectTypeOf(told).returns.toEqualTypeOf<string>();
  });
});

describe("arguments are JSON, and have a type", () => {
  test("without an input, a run that takes arguments says which", () => {
    // @ts-expect-error its arguments have no type
    hf.tool({ ...base, run: ({ paymentId }) => paymentId });
    // @ts-expect-error its arguments have no type
    hf.tool({ ...base, run: ({ paymentId }, { key }) => `${key}${paymentId}` });
    // @ts-expect-error its arguments have no type
    hf.tool({ ...base, run: (given) => given.paymentId });
    // @ts-expect-error its arguments have no type
    hf.tool({ ...base, run: (given, { key }) => refund(given, key) });
  });

  test("a run that takes none needs no type", () => {
    const tool = hf.tool({ ...base, run: () => refund(args) });
    expectTypeOf(tool({})).toEqualTypeOf<Promise<Refund>>();
    const keyed = hf.tool({ ...base, run: (_, { key }) => refund(args, key) });
    expectTypeOf(keyed({})).toEqualTypeOf<Promise<Refund>>();
  });

  test("a Date does not compile, wherever it is, nor does what else JSON cannot carry", () => {
    // @ts-expect-error a Date
    hf.tool({ ...base, run: (given: { at: Date }) => given.at });
    // @ts-expect-error a Date in a list
    hf.tool({ ...base, run: (given: { days: { at?: Date }[] }) => given.days });
    // @ts-expect-error a Date, or a text
    hf.tool({ ...base, run: (given: { at: Date | string }) => given.at });
    // @ts-expect-error a Map
    hf.tool({ ...base, run: (given: { by: Map<string, number> }) => given.by });
    // @ts-expect-error a bigint
    hf.tool({ ...base, run: (given: { cents: bigint }) => given.cents });
    // @ts-expect-error a Date by the type of the input
    hf.tool({ ...base, input: typed<{ at: Date }>(), run: () => 1 });
    // @ts-expect-error a Date in the arguments of one call
    void hf.run({ ...base, scope: "s", args: { at: new Date() }, run: () => 1 });
  });

  test("interfaces, recursive types, brands and unknown values do", () => {
    interface Tree {
      readonly name: string & { readonly brand: "name" };
      readonly kids?: readonly Tree[] | undefined;
      readonly data: Json;
      readonly other: unknown;
    }
    type Json = null | boolean | number | string | readonly Json[] | { readonly [k: string]: Json };
    const tool = hf.tool({ ...base, run: (tree: Tree) => tree.name });
    expectTypeOf(tool).toExtend<GuardedTool<Tree, string>>();
    expectTypeOf(hf.tool({ ...base, run: (given: Json) => [given] })).toExtend<
      GuardedTool<Json, Json[]>
    >();
  });
});
