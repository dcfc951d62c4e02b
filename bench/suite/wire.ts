/**
 * What the wire token and `guardedFetch` cost a request, beside a bare fetch on the loopback.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { guardedFetch } from "../../src/wire/guarded-fetch.ts";
import { createToken, runWithToken } from "../../src/wire/token.ts";
import { drive, inTurns, type Measured } from "../stores/measure.ts";
import type { Part } from "./part.ts";

const BODY = JSON.stringify({ text: "x".repeat(1_000) });

export const wire: Part = {
  groups: ["wire"],
  async measure(_wanted, { rounds, ms }, report) {
    const server = createServer((request, response) => {
      request.resume().once("end", () => response.end("{}"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = async (by: typeof fetch): Promise<void> => {
      await (await by(url, { method: "POST", body: BODY })).text();
    };
    let attempt = 0;
    const underToken = (by: typeof fetch) => (): Promise<void> => {
      attempt += 1;
      return runWithToken(createToken({ operationId: "bench", attempt }), () => send(by));
    };
    const guarded = guardedFetch();
    const timed = (call: () => Promise<void>) => (): Promise<Measured> => drive(1, ms, call);
    const cases = {
      "bare fetch": timed(() => send(fetch)),
      "under a token": timed(underToken(fetch)),
      "guarded, under a token": timed(underToken(guarded)),
    };
    report("wire", false);
    await inTurns(2, cases);
    const all = await inTurns(rounds, cases);
    server.closeAllConnections();
    server.close();
    report("wire done", true);
    const series = Object.entries(all).map(([name, measured]) => ({
      group: "wire",
      name,
      at: "",
      rounds: {
        p50Us: measured.map(({ p50Us }) => p50Us),
        cpuUs: measured.map(({ cpuUs }) => cpuUs),
      },
    }));
    return { series, notRun: [] };
  },
};
