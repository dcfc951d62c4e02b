/**
 * A real Restate server on ports of its own, from the package that carries its binary.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

export interface Restate {
  readonly ingress: string;
  readonly admin: string;
  /** Resolves when it has ended. */
  end(): Promise<void>;
}

const STARTS_WITHIN_MS = 60_000;
const POLL_MS = 200;

/** `undefined` where the package has no binary for this machine. */
export function restateBinary(): string | undefined {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    const path = createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Ready to be asked; it ends with this process at the latest. Its data is in `folder`. */
export async function startRestate(folder: string): Promise<Restate> {
  const binary = restateBinary();
  if (binary === undefined) throw new Error("There is no Restate server for this machine.");
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(binary, ["--no-logo", "--base-dir", join(folder, "restate")], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_DEFAULT_NUM_PARTITIONS: "1",
    },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const end = async (): Promise<void> => {
    kill();
    await ended;
    process.removeListener("exit", kill);
  };
  const urls = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
  const until = performance.now() + STARTS_WITHIN_MS;
  while (
    !((await isUp(`${urls.admin}/health`)) && (await isUp(`${urls.ingress}/restate/health`)))
  ) {
    if (performance.now() > until || child.exitCode !== null) {
      await end();
      throw new Error(`The Restate server did not start within ${STARTS_WITHIN_MS / 1_000} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { ...urls, end };
}

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
