/** An answer that is too large to keep is the caller's, whole and as it comes; nothing of it is piled up or read on. */
import { expect, test } from "vitest";
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
  expect(heard("warning", "payload_lost")).toMatchObject([{ why: "larger than 65536 bytes" }]);
  await expect(pass(exporting({}, ONCE))).rejects.toMatchObject({
    code: "ERR_HOLDFIRE_RESULT_LOST",
  });
});
