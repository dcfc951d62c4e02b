/** What a developer is told to do: it fits what happened, and would have helped. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../../src/engine/define/definition.ts";
import { absent, cannotTell, createHoldfire } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory.ts";

type Pay = Run<{ cents: number }, unknown>;

async function payTool(run: (url: string) => Pay, status = 200) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end('{"error":"busy"}');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((done) => server.close(done));
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  onTestFinished(async () => {
    await hf.close();
    if (server.listening) await close();
  });
  const pay = hf.tool({ name: "pay", kind: "write", run: run(`http://127.0.0.1:${port}`) });
  const call = (options: { retry?: string } = {}) =>
    pay({ cents: 1 }, { scope: "job-1", ...options }).catch((error: Error) => error.message);
  const reply = () => pay.reply({ cents: 1 }, { scope: "job-1" });
  return { call, reply, close };
}

const returnsBody = (url: string) => async () => (await fetch(url, { method: "POST" })).json();

test("run returned the body of a clear no: throw there, and it is not applied", async () => {
  const { call } = await payTool(returnsBody, 400);
  const message = await call();
  expect(message).toContain(
    "The service answered 400. run returned a value all the same: throw where response.ok is false, and it is not applied.",
  );
  expect(message).not.toContain("lost reply");
});

test("run threw after a yes: say so if nothing happened, or let it be looked up", async () => {
  const { call } = await payTool((url) => async () => {
    await fetch(url, { method: "POST" });
    throw new Error("the card was declined");
  });
  const message = await call();
  expect(message).toContain("Where the answer says that nothing happened, throw notApplied(why).");
  expect(message).not.toContain("lost reply");
});

test("503: first of all it can be looked up; refuses is for a service that is known to do nothing", async () => {
  const { call } = await payTool(returnsBody, 503);
  expect(await call()).toMatch(
    /Declare readState, or keyed .*, so that it can be looked up\. Only if the service certainly does nothing when it answers 503, declare refuses: \[503\]\./,
  );
});

test("what was not sent, of a tool that may do more than is seen, says how it is made again", async () => {
  const { call, reply, close } = await payTool(returnsBody);
  await close();
  const message = await call();
  expect(message).toContain('{ retry: "why" }');
  expect(message).toContain('declare via: "http"');
  expect((await reply()).message).toMatch(
    /^It was not sent: .* The same call gets the same answer\.$/,
  );
});

test("words of a service that end without a stop do not run into the next sentence", async () => {
  const { reply } = await payTool(
    (url) =>
      async (_, { fetch }) => {
        const response = await fetch(url, { method: "POST" });
        throw new Error(`The bank answered ${response.status}`);
      },
    503,
  );
  expect((await reply()).message).toContain('It said: "busy". It may have happened.');
});

test("a reader that could not tell: the event says why, and the message names it", async () => {
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  onTestFinished(() => hf.close());
  const why: unknown[] = [];
  hf.on("read", (event) => why.push(event.why));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    deadlineMs: 500,
    run: (_: { cents: number }) => Promise.reject(new Error("lost")),
    readState: ({ firstSentAt }) => (firstSentAt ? cannotTell("a full page") : absent()),
  });
  const error = await pay({ cents: 1 }, { scope: "job-1" }).catch((thrown: Error) => thrown);
  expect(why).toContain("a full page");
  expect(String(error)).toContain('The event "read" says why.');
});
