/**
 * A small SMTP server that keeps mails and loses replies on demand, and a client that fails as nodemailer does.
 *
 * @module
 */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { SmtpTransport } from "../../src/recipes/messages/smtp.ts";
import type { Loss } from "./fake-service.ts";

export interface SmtpServer {
  readonly transport: SmtpTransport;
  /** The Message-IDs of the mails that were taken. */
  readonly mails: string[];
  /** Mails that arrived, taken or not. */
  readonly writes: string[];
  lose(loss: Loss): void;
}

export async function startSmtp(): Promise<SmtpServer> {
  const mails: string[] = [];
  const writes: string[] = [];
  const losses: Loss[] = [];

  const take = (socket: Socket, text: string): void => {
    const id = /^Message-ID: (.*)$/m.exec(text)?.[1] ?? "";
    writes.push(id);
    const loss = losses.shift();
    if (typeof loss === "object") return void socket.write(`${loss.status} No\r\n`);
    if (loss !== "before") mails.push(id);
    if (loss === "twice") mails.push(id);
    if (loss) return void socket.resetAndDestroy();
    socket.write("250 OK\r\n");
  };
  const server = createServer((socket) => {
    let mail: string[] | undefined;
    socket.on("error", () => {});
    socket.write("220 fake\r\n");
    createInterface({ input: socket }).on("line", (line) => {
      if (mail && line === ".") {
        take(socket, mail.join("\n"));
        mail = undefined;
      } else if (mail) mail.push(line);
      else if (line === "DATA") {
        mail = [];
        socket.write("354 Go on\r\n");
      } else socket.write("250 OK\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    transport: { sendMail: sendTo(port) },
    mails,
    writes,
    lose: (loss) => losses.push(loss),
  };
}

const sendTo =
  (port: number): SmtpTransport["sendMail"] =>
  ({ from, to, subject, text, messageId }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const body = `Message-ID: ${messageId}\nSubject: ${subject}\n\n${text}\n.`;
      const steps = ["EHLO test", `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, "DATA", body];
      const lost = () => reject(Object.assign(new Error("Lost."), { code: "ECONNECTION" }));
      socket.on("error", lost).on("close", lost);
      createInterface({ input: socket })
        .on("error", lost)
        .on("line", (line) => {
          const responseCode = Number(line.slice(0, 3));
          if (responseCode >= 400) {
            reject(Object.assign(new Error("No."), { code: "EMESSAGE", responseCode }));
            return void socket.destroy();
          }
          const next = steps.shift();
          if (next) return void socket.write(`${next.replaceAll("\n", "\r\n")}\r\n`);
          resolve({ messageId });
          socket.destroy();
        });
    });
