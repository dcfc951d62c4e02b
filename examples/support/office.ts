/**
 * A stand-in for the place where your webhooks arrive: a person there reads each question and says yes. Before that, somebody
 * without the secret tries to.
 *
 * @module
 */

import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Office {
  /** Where it takes webhooks. */
  readonly url: string;
  readonly secret: string;
  /** Where answers go; set it before the first question. */
  answersTo: string;
  /** What it was told, in order. */
  readonly told: readonly string[];
  close(): Promise<void>;
}

export async function startOffice(): Promise<Office> {
  const secret = "a secret that both sides have";
  const told: string[] = [];
  const sign = (body: string) => createHmac("sha256", secret).update(body).digest("hex");

  async function answer(body: string, signature: string): Promise<number> {
    const headers = { "content-type": "application/json", "x-signature": signature };
    const { status } = await fetch(office.answersTo, { method: "POST", headers, body });
    return status;
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isMeant = request.headers["x-signature"] === sign(body);
    response.writeHead(isMeant ? 204 : 401).end();
    if (!isMeant) return;
    const { status, id, digest, shown } = JSON.parse(body);
    told.push(status);
    if (status !== "asked" || shown?.args?.payee !== "ana") return;
    const yes = JSON.stringify({ id, digest, approve: true, by: "ana" });
    const forged = await answer(yes, "0".repeat(64));
    if (forged !== 401) throw new Error(`An answer without a signature was answered ${forged}.`);
    await answer(yes, sign(yes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const office: Office = {
    url: `http://127.0.0.1:${port}/approvals`,
    secret,
    answersTo: "",
    told,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return office;
}
