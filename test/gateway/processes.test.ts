/** Host, gateway and server are processes, and one of them is killed: one effect through the gateway, two without it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { isProof } from "../proof.ts";
import { findScratch } from "../servers/postgres.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, VERSIONS, type Version, type World } from "./world.ts";

const newFolder = temporaryFolder();
/** Each test starts a handful of processes. */
const LONG_MS = 120_000;
const HOST = fileURLToPath(new URL("host.ts", import.meta.url));

interface HostProcess {
  readonly child: ChildProcess;
  /** Of the gateway, or of the bare server. */
  readonly pid: Promise<number>;
  readonly told: Promise<string>;
  end(): Promise<void>;
  /** What it and its gateway have written to standard error. */
  complained(): string;
}

function startHostProcess(
  world: World,
  version: Version,
  way: "bare" | "gateway",
  args: object,
  options: readonly string[] = [],
  cwd?: string,
): HostProcess {
  const argv = [HOST, version, way, world.folder, "pay", JSON.stringify(args), ...options];
  const child = spawn(process.execPath, argv, { stdio: "pipe", cwd });
  const exited = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let complained = "";
  child.stderr.on("data", (chunk) => {
    complained += chunk;
  });
  const lines = createInterface({ input: child.stdout });
  const line = (begin: string) =>
    new Promise<string>((resolve) => {
      lines.on("line", (text) => {
        if (text.startsWith(begin)) resolve(text.slice(begin.length));
      });
    });
  return {
    child,
    complained: () => complained,
    pid: line("pid ").then(Number),
    told: line("told "),
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}

const scratch = await findScratch();
afterAll(() => scratch?.drop());

/** A ledger of its own in the Postgres that others use, too. */
async function postgresOptions(): Promise<readonly string[]> {
  const { url, schema, pool } = scratch as NonNullable<typeof scratch>;
  await postgresStore({ pool, schema }).migrate();
  return ["--store", url, "--schema", schema, "--as", crypto.randomUUID()];
}

// In `npm test` one of them.
describe.each(isProof ? VERSIONS : (["v1"] as const))("SDK %s", (version) => {
  test(
    "the host is killed in mid-call and starts again: one effect, and the answer",
    async () => {
      for (const way of ["bare", "gateway"] as const) {
        const world = newWorld(newFolder());
        const until = join(world.folder, "go");
        const first = startHostProcess(world, version, way, { text: "a", until });
        await expect.poll(world.effects, PATIENT).toHaveLength(1);
        first.child.kill("SIGKILL");
        world.release(until);
        const second = startHostProcess(world, version, way, { text: "a", until });
        const effects = way === "bare" ? 2 : 1;
        expect(await second.told).toBe(`noted a, ${effects} in all`);
        expect(world.effects()).toHaveLength(effects);
        await second.end();
      }
    },
    LONG_MS,
  );

  test(
    "the same command in another folder is another server: what was done there is not told here",
    async () => {
      const world = newWorld(newFolder());
      const host = (cwd: string) =>
        startHostProcess(world, version, "gateway", { text: "a" }, [], cwd);
      const first = host(world.folder);
      expect(await first.told).toBe("noted a, 1 in all");
      process.kill(await first.pid, "SIGKILL");
      await first.end();
      const elsewhere = host(newFolder());
      expect(await elsewhere.told).toBe("noted a, 2 in all");
      await elsewhere.end();
      const again = host(world.folder);
      expect(await again.told).toBe("noted a, 1 in all");
      await again.end();
      expect(world.effects()).toHaveLength(2);
    },
    LONG_MS,
  );

  test.each(scratch ? ["SQLite", "Postgres"] : ["SQLite"])(
    "the gateway is killed after it has answered: the next one replays the answer, from %s",
    async (store) => {
      const world = newWorld(newFolder());
      const options = store === "Postgres" ? await postgresOptions() : [];
      const first = startHostProcess(world, version, "gateway", { text: "a" }, options);
      expect(await first.told).toBe("noted a, 1 in all");
      process.kill(await first.pid, "SIGKILL");
      await first.end();
      const second = startHostProcess(world, version, "gateway", { text: "a" }, options);
      expect(await second.told).toBe("noted a, 1 in all");
      await second.end();
      expect(world.effects()).toHaveLength(1);
    },
    LONG_MS,
  );

  test.each(["gateway", "server"] as const)(
    "the %s is killed in mid-call: the next one fires nothing, and says that it does not know",
    async (killed) => {
      const world = newWorld(newFolder());
      const args = killed === "server" ? { text: "a", die: true } : { text: "a", hang: true };
      const unknown = { outcome: "unknown", ok: false };
      const first = startHostProcess(world, version, "gateway", args);
      await expect.poll(world.effects, PATIENT).toHaveLength(1);
      if (killed === "gateway") process.kill(await first.pid, "SIGKILL");
      else expect(JSON.parse(await first.told)).toMatchObject(unknown);
      await first.end();
      const second = startHostProcess(world, version, "gateway", args);
      expect(JSON.parse(await second.told)).toMatchObject(unknown);
      await second.end();
      expect(world.effects()).toHaveLength(1);
    },
    LONG_MS,
  );

  test(
    "chaos kills the gateway before the answer leaves, and the report counts what the next one does",
    async () => {
      const world = newWorld(newFolder());
      const chaos = ["--chaos", "die", "--nth", "1", "--tool", "pay"];
      const first = startHostProcess(world, version, "gateway", { text: "a" }, chaos);
      expect(await first.told).toMatch(/^error: /);
      await first.end();
      const second = startHostProcess(world, version, "gateway", { text: "a" }, ["--report"]);
      expect(await second.told).toBe("noted a, 1 in all");
      await second.end();
      expect(second.complained()).toContain("1 answered from the ledger");
      expect(second.complained()).toContain("0 sent to the server under the guard");
      expect(world.effects()).toHaveLength(1);
    },
    LONG_MS,
  );
});
