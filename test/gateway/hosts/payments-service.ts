/**
 * Where the effects are counted: a service over HTTP, outside host, gateway and server. It has no keys, and answers a
 * payment when the fault of the case has happened.
 *
 * @module
 */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A payment, and the processes by way of which it came. */
export interface Payment {
  /** Of the server, and of what has started it. */
  readonly pid: number;
  readonly ppid: number;
}

export interface PaymentsService {
  readonly url: string;
  readonly payments: readonly Payment[];
  close(): Promise<void>;
}

export interface ServiceHooks {
  /** The payment is made, and not yet answered. */
  readonly paid: (payment: Payment, number: number) => Promise<void>;
  /** Whether the pipe loses the answer that it has in its hand. */
  readonly losesAnswer: () => boolean;
}

export async function startPaymentsService(hooks: ServiceHooks): Promise<PaymentsService> {
  const payments: Payment[] = [];
  const answerTo = async (request: IncomingMessage): Promise<unknown> => {
    if (request.url === "/answer") return hooks.losesAnswer() ? "lost" : "kept";
    if (request.url !== "/pay") return JSON.stringify({ count: payments.length });
    const payment: Payment = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const number = payments.push(payment);
    await hooks.paid(payment, number);
    return number;
  };
  const server = createServer((request, response) => {
    answerTo(request).then(
      (answer) => response.end(String(answer)),
      () => response.destroy(),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    payments,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
