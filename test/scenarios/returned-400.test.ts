/** A keyed tool returns the `Response` of a 400: whether that is a no, or an error about the key, is in its body. */
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const JSON_TYPE = { "content-type": "application/json" };
const KEY_ERROR = { error: { type: "idempotency_error", message: "another request" } };

/** What a call is told whose request is answered like this. */
async function told(answer: (response: ServerResponse) => void, keyed = true) {
  const { hf, pass, track } = await openWorld();
  const { url, arrived } = await startService((_, response) => answer(response));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    keyed: keyed ? { forMs: 86_400_000 } : undefined,
    attempts: 1,
    run: (_: object, { key }) =>
      track(fetch(url, { method: "POST", headers: { "idempotency-key": key }, body: "{}" })),
  } as const);
  const outcome = await pass(pay.outcome({}, { scope: "job" }));
  expect(arrived).toHaveLength(1);
  return outcome;
}

const answers = {
  /** The body ends before the length that was promised. */
  broken: (response: ServerResponse) => {
    response.writeHead(400, { ...JSON_TYPE, "content-length": "1000" });
    response.write('{"error":{"type":"idemp', () => response.destroy());
  },
  whole: (response: ServerResponse) =>
    response.writeHead(400, JSON_TYPE).end(JSON.stringify({ error: { type: "invalid_amount" } })),
  aboutKey: (response: ServerResponse) =>
    response.writeHead(400, JSON_TYPE).end(JSON.stringify(KEY_ERROR)),
  noJson: (response: ServerResponse) => response.writeHead(400, JSON_TYPE).end("<html>"),
  text: (response: ServerResponse) =>
    response.writeHead(400, { "content-type": "text/plain" }).end("no such account"),
};

test.each([
  ["that breaks off", answers.broken],
  ["that is about the key", answers.aboutKey],
  ["that says it is JSON, and is not", answers.noJson],
])("a body %s: the first request may have been applied", async (_, answer) => {
  expect(await told(answer)).toMatchObject({ status: "unknown", answered: 400 });
});

test.each([
  ["that says what is wrong", answers.whole],
  ["that is a text", answers.text],
])("a body %s is a no", async (_, answer) => {
  expect(await told(answer)).toMatchObject({ status: "not_applied", reason: "rejected" });
});

test("without a key, a 400 is a no, however its body ends", async () => {
  for (const answer of [answers.broken, answers.noJson])
    expect(await told(answer, false)).toMatchObject({ status: "not_applied", reason: "rejected" });
});
