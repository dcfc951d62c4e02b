/**
 * A Postgres, its asynchronous standby, and an address that leads to whichever of them is the primary.
 *
 * @module
 */

import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import pg from "pg";
import { type PostgresServer, startPostgres } from "./postgres.ts";

export interface FailoverPair {
  /** Of the primary, before and after the failover. */
  readonly url: string;
  /** The standby gets no more from now on. */
  cutOff(): Promise<void>;
  /** The standby has all that the primary has. */
  caughtUp(): Promise<void>;
  /** The primary is gone, and the standby takes its place with what it has. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFailoverPair(): Promise<FailoverPair> {
  const primary = await startPostgres();
  const standby = await startPostgres({ follows: primary.url });
  const address = await startAddress(primary);
  const caughtUp = async (): Promise<void> => {
    const [lsn = ""] = await ask(primary.url, "SELECT pg_current_wal_lsn()::text");
    const reached = `SELECT (pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn)::text`;
    while ((await ask(standby.url, reached))[0] !== "true");
  };
  return {
    url: address.url,
    caughtUp,
    async cutOff() {
      await caughtUp();
      await ask(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
      await ask(standby.url, "SELECT pg_reload_conf()::text");
      while ((await ask(standby.url, "SELECT pid::text FROM pg_stat_wal_receiver")).length > 0);
    },
    async failOver() {
      await primary.stop();
      await ask(standby.url, "SELECT pg_promote()::text");
      address.leadTo(standby);
    },
    async stop() {
      address.close();
      await primary.stop();
      await standby.stop();
    },
  };
}

async function ask(connectionString: string, text: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<string[]>({ text, rowMode: "array" });
  await client.end();
  return rows.flat();
}

async function startAddress(first: PostgresServer) {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection({
      port: Number(new URL(target.url).port),
      host: "127.0.0.1",
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(first.url);
  url.port = String((server.address() as AddressInfo).port);
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    leadTo(other: PostgresServer) {
      target = other;
      hangUp();
    },
    close() {
      hangUp();
      server.close();
    },
  };
}
