/**
 * Stands between a client and a Redis, counts commands, and can lose a reply.
 *
 * @module
 */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createConnection, createServer, type Socket } from "node:net";

export interface RedisProxy {
  readonly port: number;
  /** The names of all commands since the last call, in order. */
  taken(): readonly string[];
  /** The next reply is lost with its connection, after the server has done what it was told. */
  loseNextReply(): void;
  close(): Promise<void>;
}

/** Only what clients send is understood: lists of texts, as RESP has them. */
export async function startProxy(target: number): Promise<RedisProxy> {
  let names: string[] = [];
  let losing = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection({ port: target, host: "127.0.0.1" });
    const count = commandCounter((name) => names.push(name));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (data) => {
      count(data);
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (losing) {
        losing = false;
        client.destroy();
      } else client.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    taken() {
      const all = names;
      names = [];
      return all;
    },
    loseNextReply() {
      losing = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Reads a stream of commands and tells the name of each. */
function commandCounter(told: (name: string) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (let command = readCommand(rest); command; command = readCommand(rest)) {
      rest = rest.subarray(command.length);
      told(command.name);
    }
  };
}

/** The first command in the buffer, if it is there whole. */
function readCommand(
  buffer: Buffer,
): { readonly name: string; readonly length: number } | undefined {
  let at = 0;
  const line = (): string | undefined => {
    const end = buffer.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const text = buffer.toString("latin1", at, end);
    at = end + 2;
    return text;
  };
  const head = line();
  if (head === undefined) return undefined;
  let name = "";
  for (let item = 0; item < Number(head.slice(1)); item += 1) {
    const size = line();
    if (size === undefined) return undefined;
    const end = at + Number(size.slice(1));
    if (buffer.length < end + 2) return undefined;
    if (item === 0) name = buffer.toString("latin1", at, end).toUpperCase();
    at = end + 2;
  }
  return { name, length: at };
}
