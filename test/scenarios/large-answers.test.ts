/** An answer that is too large, or too slow, to keep is the caller's, whole and as it comes; nothing of it is piled up or read on. */
import { expect, test } from "vitest";
import { until } from "../engine/virtual-clock.ts";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const CHUNK = Buffer.alloc(65_536, "x");
const CHUNKS = 800;

/** A service that answers with 50 MB, as fast as they are taken. */
async function open() {
  const world = await openWorld();
  let sent = 0;
  const service = await startService((_, response) => {
    const go = () => {
      while (sent < CHUNKS) {
        sent += 1;
        if (!response.write(CHUNK)) return void response.once("drain", go);
      }
      response.end();
    };
    go();
  });
  return { ...world, service, sent: () => sent };
}

test("the caller reads all of it, and what it does not read stays with the service", async () => {
  const { hf, pass, track, service, sent, heard } = await open();
  const exporting = hf.tool({
    name: "export",
    kind: "write",
    run: (_: object, { signal }) =>
      track(fetch(service.url, { method: "POST", body: "{}", signal })),
  });
  const answer = await pass(exporting({}, ONCE));
  // What the sockets hold is sent; far from all of it.
  expect(sent()).toBeLessThan(CHUNKS / 2);
  let size = 0;
  for await (const chunk of answer.body ?? []) size += chunk.length;
  expect(size).toBe(CHUNKS * CHUNK.length);
  expect(heard("warning", "payload_lost")).toMatchObject([
    { why: expect.stringContaining("larger than 65536 bytes") },
  ]);
  await expect(pass(exporting({}, ONCE))).rejects.toMatchObject({
    code: "ERR_HOLDFIRE_RESULT_LOST",
  });
});

test.each([
  ["with a key", { keyed: { forMs: 3_600_000 } }],
  ["without one", {}],
])(
  "a body that comes slowly is handed over when its time is up, and nothing is sent again: %s",
  async (_, rules) => {
    const { hf, pass, track } = await openWorld();
    let finish = () => {};
    const service = await startService((_request, response) => {
      response.write("data: 1\n\n");
      finish = () => response.end("data: 2\n\n");
    });
    const exporting = hf.tool({
      name: "export",
      kind: "write",
      ...rules,
      run: (_: object, { signal, key }) =>
        track(
          fetch(service.url, {
            method: "POST",
            body: "{}",
            headers: { "idempotency-key": key },
            signal,
          }),
        ),
    });
    const outcome = await pass(exporting.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    finish();
    expect(await (outcome as { result: Response }).result.text()).toBe("data: 1\n\ndata: 2\n\n");
    expect(await pass(exporting.outcome({}, ONCE))).toMatchObject({
      status: "committed",
      resultLost: true,
    });
    expect(service.arrived).toHaveLength(1);
  },
);

test.each([
  ["has no end is handed over soon", false],
  ["is whole is kept", true],
])(
  "a body whose head came only after the attempt's time was up and that %s",
  async (_, isWhole) => {
    const { hf, pass, clock, heard } = await openWorld();
    let begin = () => {};
    const service = await startService((_request, response) => {
      begin = () => void (isWhole ? response.end("data: 1\n\n") : response.write("data: 1\n\n"));
    });
    let hasHead = false;
    const exporting = hf.tool({
      name: "export",
      kind: "write",
      attemptTimeoutMs: 5_000,
      run: async (_: object, { signal }) => {
        const answer = await fetch(service.url, { method: "POST", body: "{}", signal });
        hasHead = true;
        return answer;
      },
    });
    const call = exporting.outcome({}, ONCE);
    await until(() => service.arrived.length === 1);
    await clock.advance(6_000);
    begin();
    await until(() => hasHead);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 1 });
    expect(clock.monotonic()).toBeLessThan(10_000);
    expect(heard("warning", "payload_lost")).toHaveLength(isWhole ? 0 : 1);
  },
);

test.each([
  ["that comes slowly", false],
  ["that is there", true],
])("a body %s keeps no call waiting for another write that hangs", async (_, isWhole) => {
  const { hf, pass, track } = await openWorld();
  const service = await startService((request, response) => {
    if (request.url === "/hang") return;
    response.write("data: 1\n\n");
    if (isWhole) response.end();
  });
  const exporting = hf.tool({
    name: "export",
    kind: "write",
    run: (_: object, { signal }) => {
      const send = (path: string) =>
        fetch(`${service.url}${path}`, { method: "POST", body: "{}", signal });
      send("/hang").catch(() => {});
      return track(send("/export"));
    },
  });
  expect(await pass(exporting.outcome({}, ONCE))).toMatchObject({ status: "in_progress" });
});
