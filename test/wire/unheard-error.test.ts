/**
 * A request that the observer ends, of a program that does not listen for its errors. An exception that nobody catches fails the
 * test by itself.
 */
import { request } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToken, endToken, runWithToken, tearDown } from "../../src/wire/token.ts";
import { until } from "../engine/virtual-clock.ts";
import { listenOn, startService } from "./servers.ts";

function open() {
  const time = { isOver: false };
  const terms = {
    ignores: () => false,
    mayStillSend: () => !time.isOver,
    onLate: () => {},
    onOtherWay: () => {},
  };
  const token = createToken({ operationId: "id", attempt: 1, makeTerms: () => terms });
  onTestFinished(() => endToken(token));
  return { time, token };
}

/** Node 24.0 has no channels for node:http2. */
const isSilent = process.versions.node.startsWith("24.0.");

describe("a request that nobody hears fail does not end the process", () => {
  test("where node:http is torn down, or is stopped before it leaves", async () => {
    const { time, token } = open();
    const { url, arrived } = await startService(() => {});
    const send = () => runWithToken(token, () => request(url, { method: "POST" }).end("{}"));
    const sent = send();
    await until(() => arrived.length === 1);
    tearDown(token);
    time.isOver = true;
    const late = send();
    await until(() => sent.closed && late.closed);
    expect(arrived).toHaveLength(1);
  });

  test.skipIf(isSilent)(
    "where node:http2 is torn down, or is stopped before it leaves",
    async () => {
      const { time, token } = open();
      let arrived = 0;
      const server = createHttp2Server(() => {
        arrived += 1;
      });
      const session = connect(`http://localhost:${await listenOn(server)}`);
      onTestFinished(() => session.destroy());
      const send = () =>
        runWithToken(token, () => session.request({ ":path": "/", ":method": "POST" }).end("{}"));
      const sent = send();
      await until(() => arrived === 1);
      tearDown(token);
      time.isOver = true;
      const late = send();
      await until(() => sent.closed && late.closed);
      expect(arrived).toBe(1);
    },
  );
});
