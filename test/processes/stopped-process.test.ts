import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "./child.ts";
import { openPayments, type Paid, type Started } from "./stopped-tools.ts";

test.skipIf(process.platform === "win32")(
  "a process that is stopped past its lease and goes on sends nothing after another has fired",
  async () => {
    const paid: string[] = [];
    const bank = createServer(({ method, url = "" }, response) => {
      if (method === "POST") paid.push(url);
      response.writeHead(paid.includes(url) ? 200 : 404).end(url);
    });
    await once(bank.listen(0, "127.0.0.1"), "listening");
    const folder = mkdtempSync(join(tmpdir(), "holdfire-stopped-"));
    onTestFinished(() => {
      bank.closeAllConnections();
      bank.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const url = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`;
    const start: Started = { tag: "start", path: join(folder, "ledger.db"), url };

    const child = startChild("./stopped-payer.ts", import.meta.url);
    onTestFinished(() => child.kill());
    child.send(start);
    await child.next("stopping");

    const { hf, pay } = openPayments(start, async () => {});
    const outcome = await pay.outcome({ order: "o1" }, { scope: "job" });
    expect(outcome).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    process.kill(child.pid, "SIGCONT");
    expect(await child.next<Paid>("paid")).toMatchObject({ status: "committed" });
    await hf.close();
    expect(paid).toEqual(["/o1"]);
  },
);
