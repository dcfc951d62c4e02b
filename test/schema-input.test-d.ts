/** A schema may take less, or something else, than it gives: a call is written as the schema takes it. */
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createHoldfire, httpTool, type StandardSchema, typed } from "../src/index.ts";
import { memoryStore } from "../src/stores/memory.ts";

const hf = createHoldfire({ store: memoryStore() });
const input = z.object({
  paymentId: z.string(),
  cents: z.number().default(100),
  day: z.string().transform((text) => text.length),
});
interface Given {
  paymentId: string;
  cents?: number | undefined;
  day: string;
}
interface Taken {
  paymentId: string;
  cents: number;
  day: number;
}
const base = { name: "refund_payment", kind: "write" } as const;

test("a call takes what the schema takes; the functions of the tool get what it gives", () => {
  const tool = hf.tool({
    ...base,
    input,
    intent: (args) => {
      expectTypeOf(args).toEqualTypeOf<Taken>();
      return { paymentId: args.paymentId };
    },
    run: async (args) => {
      expectTypeOf(args).toEqualTypeOf<Taken>();
      return args.cents;
    },
  });
  expectTypeOf(tool).parameter(0).toEqualTypeOf<Given>();
  expectTypeOf(tool.reply).parameter(0).toEqualTypeOf<Given>();
  expectTypeOf(tool).returns.resolves.toEqualTypeOf<number>();
});

test("so does a tool of httpTool, and a call of hf.run", () => {
  const tool = hf.tool(
    httpTool({
      name: "refund_payment",
      input,
      url: "https://bank.example/refunds/{paymentId}",
      body: (args) => {
        expectTypeOf(args).toEqualTypeOf<Taken>();
        return args;
      },
      result: (body) => body as { id: string },
    }),
  );
  expectTypeOf(tool).parameter(0).toEqualTypeOf<Given>();
  expectTypeOf(tool).returns.resolves.toEqualTypeOf<{ id: string }>();
  const run = async (args: Taken) => args.cents;
  const once = () => hf.run({ ...base, input, run, args: { paymentId: "p1", day: "monday" } });
  expectTypeOf(once).returns.resolves.toEqualTypeOf<number>();
});

test("where a schema does not say what it takes, and for typed(), it is what the tool gets", () => {
  const schema = {} as StandardSchema<Taken>;
  expectTypeOf(hf.tool({ ...base, input: schema, run: async () => 1 }))
    .parameter(0)
    .toEqualTypeOf<Taken>();
  expectTypeOf(hf.tool({ ...base, input: typed<Taken>(), run: async () => 1 }))
    .parameter(0)
    .toEqualTypeOf<Taken>();
});
