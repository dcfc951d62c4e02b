/** A list that was answered 503 is not an empty list: what a reader says is judged by what its reads were answered. */
import { expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const body = "{}";

interface Listed {
  readonly data?: readonly string[];
}

async function open(list: (nth: number) => number) {
  const world = await openWorld();
  let paid = 0;
  let asked = 0;
  const service = await startService((request, response) => {
    if (request.method === "POST") {
      paid += 1;
      return void request.socket.destroy();
    }
    asked += 1;
    const status = list(asked);
    const data = status === 200 && paid > 0 ? ["payment"] : [];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? { data } : { error: "busy" }));
  });
  return { ...world, service, paid: () => paid };
}

test.each(["ambient fetch", "the reader's own fetch"])(
  "a 503 taken for nothing: %s",
  async (way) => {
    const { hf, pass, track, service, paid, heard } = await open(() => 503);
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: (_: object) => track(fetch(service.url, { method: "POST", body })),
      readState: async (query) => {
        const ask = way === "ambient fetch" ? fetch : query.fetch;
        const { data } = (await (await track(ask(service.url))).json()) as Listed;
        return data?.[0] ? committed(data[0] as never) : absent();
      },
      commitsWithinMs: 0,
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({
      status: "unknown",
      reason: "cannot_tell",
    });
    expect(heard("warning", "reader_failed")[0]).toMatchObject({ why: "unanswered" });
    expect(paid()).toBe(1);
  },
);

test("asked again, a reader that is answered is believed", async () => {
  const { hf, pass, track, service, paid } = await open((nth) => (nth === 1 ? 503 : 200));
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: (_: object) => track(fetch(service.url, { method: "POST", body })),
    readState: async () => {
      const { data } = (await (await track(fetch(service.url))).json()) as Listed;
      return data?.[0] ? committed(data[0] as never) : absent();
    },
    commitsWithinMs: 0,
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed" });
  expect(paid()).toBe(1);
});
