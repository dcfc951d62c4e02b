/** What the service said in the body of an error is told, though the tool threw an error of its own without reading it. It sends by `context.fetch`. */
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { startService } from "../wire/servers.ts";

/** A tool that throws an error with nothing but the status. */
async function told(answer: (response: ServerResponse) => void): Promise<string> {
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  const { url } = await startService((_, response) => answer(response));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object, { fetch }) => {
      const { ok, status } = await fetch(url, { method: "POST", body: "{}" });
      if (!ok) throw Object.assign(new Error("the payment failed"), { status });
      throw new Error("the receipt is unreadable");
    },
  });
  return (await pay.reply({}, { scope: "job" })).message;
}

const answers = (status: number) => (response: ServerResponse) =>
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { message: "Your card was declined." } }));

test.each([400, 402, 500])("a %d: its words are told", async (status) => {
  const message = await told(answers(status));
  expect(message).toContain(String(status));
  expect(message).toContain('It said: "Your card was declined."');
});

test("the body of a yes is a result, and no word on what the tool failed with", async () => {
  const message = await told(answers(200));
  expect(message).toContain("the receipt is unreadable");
  expect(message).not.toContain("declined");
});
