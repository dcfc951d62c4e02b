import type { Holdfire } from "../src/index.ts";
declare const hf: Holdfire;
// destructured, unannotated intent first, run partially annotated with the same fields
export const t1: 0 = hf.tool({
  name: "x", kind: "write",
  intent: ({ paymentId }) => ({ paymentId }),
  run: (args: { paymentId: string }, { key }) => args.paymentId + key,
});
// nothing annotated
export const t2: 0 = hf.tool({
  name: "x", kind: "write",
  intent: ({ paymentId }) => ({ paymentId }),
  run: ({ paymentId }, { key }) => paymentId + key,
});
export const t3: 0 = hf.tool({
  name: "x", kind: "write",
  run: ({ paymentId }, { key }) => paymentId + key,
});
// annotated intent
export const t4: 0 = hf.tool({
  name: "x", kind: "write",
  intent: ({ paymentId }: { paymentId: string; n: number }) => ({ paymentId }),
  readState: ({ intent }) => ({ reading: "committed", result: intent.paymentId }),
  run: ({ paymentId, n }, { key }) => paymentId + key + n,
});
export const t5: 0 = hf.tool({
  name: "x", kind: "write",
  intent: ({ paymentId }: { paymentId: string }) => ({ paymentId }),
  run: ({ paymentId, n }: { paymentId: string; n: number }, { key }) => paymentId + key + n,
});
export const t6: 0 = hf.tool({
  name: "x", kind: "write",
  intent: ({ paymentId }: { paymentId: string }) => ({ paymentId }),
  readState: ({ intent }) => ({ reading: "committed", result: intent.paymentId }),
  run: ({ paymentId, n }: { paymentId: string; n: number }, { key }) => paymentId + key + n,
});
export const t7: 0 = hf.tool({
  name: "x", kind: "write",
  readState: ({ intent }) => ({ reading: "committed", result: intent.paymentId }),
  run: ({ paymentId, n }: { paymentId: string; n: number }) => paymentId + n,
});
