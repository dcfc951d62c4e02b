/** What looks like a fetch `Response` and is none: of a mock, or of a client with one of its own. */
import { expect, test as it, onTestFinished } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { committed } from "../../src/engine/define/reading.ts";
import { rememberingStore } from "../stores/remembering-store.ts";

const MADE = {
  ...{ status: 201, ok: true, statusText: "", bodyUsed: false, body: null },
  headers: { get: () => null },
  text: async () => "made",
  arrayBuffer: async () => new ArrayBuffer(0),
};

function open() {
  const hf = createHoldfire({ store: rememberingStore(Date.now) });
  onTestFinished(() => hf.close());
  return hf;
}

it("found by a reader, it is told as it is: it cannot be copied, and keeps no caller waiting", async () => {
  const pay = open().tool({
    name: "pay",
    kind: "write",
    run: async (_: object): Promise<typeof MADE> => {
      throw new Error("The reply was lost.");
    },
    readState: async () => committed(MADE),
  });
  const both = [pay.outcome({}, { scope: "s" }), pay.outcome({}, { scope: "s" })];
  for (const outcome of await Promise.all(both)) {
    expect(outcome).toMatchObject({ status: "committed", result: { status: 201 } });
  }
});

it("returned by run, it is an answer like any other, also where it is verified", async () => {
  const pay = open().tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => MADE,
    verify: ({ status }) => status === 201,
  });
  expect(await pay.outcome({}, { scope: "s" })).toMatchObject({
    status: "committed",
    result: { status: 201 },
  });
});
