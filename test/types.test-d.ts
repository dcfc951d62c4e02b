import { expectTypeOf, test } from "vitest";
import {
  absent,
  committed,
  duplicated,
  type GuardedTool,
  type Holdfire,
  type Outcome,
  type StandardSchema,
  typed,
} from "../src/index.ts";

declare const hf: Holdfire;

interface Args {
  readonly paymentId: string;
  readonly amount: number;
  readonly reason: string;
}
interface Refund {
  readonly id: string;
  readonly cents: number;
}
declare const refund: (args: Args, key?: string) => Promise<Refund>;
declare const find: (paymentId: string) => Promise<Refund[]>;
declare const schema: StandardSchema<Args>;

test("reader before run, no intent, annotated run", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    readState: async ({ intent, key }) => {
      expectTypeOf(intent).toEqualTypeOf<Args>();
      expectTypeOf(key).toEqualTypeOf<string>();
      const [found] = await find(intent.paymentId);
      return found ? committed(found) : absent();
    },
    run: (args: Args, { key }) => refund(args, key),
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("run before reader", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    run: (args: Args, { key }) => refund(args, key),
    readState: async ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<Args>();
      const found = await find(intent.paymentId);
      return found.length > 1 ? duplicated(found) : found[0] ? committed(found[0]) : absent();
    },
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("intent before run, annotated run", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    intent: ({ paymentId, amount }) => ({ paymentId, amount }),
    readState: async ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<{ paymentId: string; amount: number }>();
      const [found] = await find(intent.paymentId);
      return found ? committed(found) : absent();
    },
    run: (args: Args, { key }) => refund(args, key),
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("reader before intent", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    input: typed<Args>(),
    readState: async ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<{ paymentId: string }>();
      return absent();
    },
    intent: ({ paymentId }) => ({ paymentId }),
    run: (args) => refund(args),
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("intent before input", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    intent: ({ paymentId }) => ({ paymentId }),
    run: (args) => refund(args),
    input: typed<Args>(),
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("schema", () => {
  const tool = hf.tool({
    name: "refund",
    kind: "write",
    input: schema,
    intent: ({ paymentId, amount }) => ({ paymentId, amount }),
    resource: ({ paymentId }) => `payment/${paymentId}`,
    run: (args, { key, attempt, signal, precondition }) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      expectTypeOf(attempt).toEqualTypeOf<number>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      void precondition;
      return refund(args, key);
    },
    readState: async ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<{ paymentId: string; amount: number }>();
      return absent();
    },
    effectOf: (result) => (result.cents > 0 ? "created" : "noop"),
    effectIdOf: ({ id }) => id,
    verify: (result, { intent }) => result.cents === intent.amount,
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<Args, Refund>>();
});

test("run once", () => {
  const a = hf.run({
    name: "refund",
    kind: "write",
    scope: "s",
    args: { paymentId: "p", amount: 1, reason: "r" },
    intent: ({ paymentId, amount }) => ({ paymentId, amount }),
    readState: async ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<{ paymentId: string; amount: number }>();
      const [found] = await find(intent.paymentId);
      return found ? committed(found) : absent();
    },
    run: (args: Args, { key }) => refund(args, key),
  });
  expectTypeOf(a).toEqualTypeOf<Promise<Refund>>();
  const b = hf.run({
    name: "refund",
    kind: "write",
    key: "k",
    input: schema,
    args: { paymentId: "p", amount: 1, reason: "r" },
    run: (args, { key }) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      return refund(args, key);
    },
  });
  expectTypeOf(b).toEqualTypeOf<Promise<Refund>>();
  const c = hf.run({
    name: "refund",
    kind: "write",
    scope: "k",
    args: { paymentId: "p", amount: 1, reason: "r" },
    run: (args, { key }) => {
      expectTypeOf(args).toEqualTypeOf<{ paymentId: string; amount: number; reason: string }>();
      return refund(args, key);
    },
  });
  expectTypeOf(c).toEqualTypeOf<Promise<Refund>>();
  const d = hf.run({
    name: "refund",
    kind: "write",
    scope: "k",
    args: { paymentId: "p", amount: 1, reason: "r" },
    intent: ({ paymentId }) => ({ paymentId }),
    readState: ({ intent }) => {
      expectTypeOf(intent).toEqualTypeOf<{ paymentId: string }>();
      return absent();
    },
    run: ({ paymentId, amount, reason }, { key }) => refund({ paymentId, amount, reason }, key),
  });
  expectTypeOf(d).toEqualTypeOf<Promise<Refund>>();
});

test("response", () => {
  const tool = hf.tool({
    name: "post",
    kind: "write",
    keyed: { forMs: 1 },
    run: ({ url }: { url: string }, { key, signal }) =>
      fetch(url, { method: "POST", headers: { "idempotency-key": key }, signal }),
  });
  expectTypeOf(tool).toEqualTypeOf<GuardedTool<{ url: string }, Response>>();
});

test("no args", () => {
  const tool = hf.tool({ name: "now", kind: "read", run: () => 1 });
  expectTypeOf(tool({})).toEqualTypeOf<Promise<number>>();
  const o = hf.tool({ name: "now", kind: "read", run: async (_: { a: string }) => "x" as const });
  expectTypeOf(o.outcome({ a: "" })).toEqualTypeOf<Promise<Outcome<"x">>>();
});
