import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { Redis } from "ioredis";
import { afterAll, describe, expect, test } from "vitest";
import { type Command, defineCommand, LEDGER } from "../../src/cli/command.ts";
import { withLedger } from "../../src/cli/ledger/open-ledger.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { jsonText } from "../../src/cli/terminal.ts";
import { createHoldfire } from "../../src/create.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { findScratch } from "../servers/postgres.ts";
import { findRedis, freePort } from "../servers/redis.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testTerminal } from "./test-terminal.ts";

const newFolder = temporaryFolder();

const names: Command = defineCommand({
  name: "names",
  summary: "Names the tools of all operations.",
  takes: [],
  about: [],
  options: LEDGER,
  run: ({ values }, terminal) =>
    withLedger(values, terminal, async (hf, { where }) => {
      const { items } = await hf.operations.list();
      terminal.out(jsonText({ where, tools: items.map(({ tool }) => tool) }, 0));
      return 0;
    }),
});

async function run(cwd: string, argv: readonly string[], env = {}) {
  const terminal = testTerminal({ cwd, env });
  const exitCode = await runCommandLine(["names", ...argv], [names], terminal);
  return { exitCode, out: terminal.printed(), err: terminal.complained() };
}

/** A ledger with one operation. */
async function fill(store: Store, tenant = "default"): Promise<void> {
  const hf = createHoldfire({ store, tenant, witness: memoryWitness() });
  const pay = hf.tool({
    ...{ name: "pay", kind: "write", keyed: { forMs: 60_000 } },
    run: (_: object, { key }) => key.length,
  });
  await pay({}, { scope: "s" });
  await hf.close();
}

/** A project that has these drivers, and no others. */
function projectWith(...drivers: string[]): string {
  const folder = newFolder();
  mkdirSync(join(folder, "node_modules"));
  for (const name of drivers) {
    symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
  }
  return folder;
}

describe("SQLite", () => {
  test("a path, the default path, and the tenant", async () => {
    const folder = newFolder();
    const path = join(folder, ".holdfire", "ledger.db");
    await fill(sqliteStore({ path }));
    await fill(sqliteStore({ path }), "acme");
    for (const argv of [[], ["--store", path], ["--store", ".holdfire/ledger.db"]]) {
      expect(await run(folder, argv)).toEqual({
        exitCode: 0,
        out: `${JSON.stringify({ where: path, tools: ["pay"] })}\n`,
        err: "",
      });
    }
    const byEnv = await run(newFolder(), [], { HOLDFIRE_STORE: path });
    expect(JSON.parse(byEnv.out).tools).toEqual(["pay"]);
    expect(JSON.parse((await run(folder, ["--tenant", "acme"])).out).tools).toEqual(["pay"]);
    expect(JSON.parse((await run(folder, ["--tenant", "else"])).out).tools).toEqual([]);
  });

  test("in a folder without a ledger, that of holdfire mcp is read, and said", async () => {
    const home = newFolder();
    const path = join(home, ".holdfire", "ledger.db");
    await fill(sqliteStore({ path }));
    const { exitCode, out, err } = await run(newFolder(), [], { HOME: home });
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toEqual({ where: path, tools: ["pay"] });
    expect(err).toContain(path);
  });

  test("a ledger that is not there is unreachable, and is not made", async () => {
    const folder = newFolder();
    const { exitCode, err } = await run(folder, []);
    expect(exitCode).toBe(3);
    expect(err).toContain("There is no ledger at");
    expect(existsSync(join(folder, ".holdfire"))).toBe(false);
  });
});

test.each([
  ["mysql://localhost/x", 'cannot open "mysql://"'],
  ["redis://localhost", "npm install ioredis"],
  ["postgres://localhost/x", "npm install pg"],
])("%s, in a project without drivers, is wrong use", async (url, message) => {
  const { exitCode, err } = await run(projectWith(), ["--store", url]);
  expect(exitCode).toBe(2);
  expect(err).toContain(message);
});

test.each([
  ["ioredis", "redis"],
  ["redis", "redis"],
  ["pg", "postgres"],
  ["postgres", "postgres"],
])(
  "%s: a server that is not there is unreachable, and no password is told",
  async (driver, scheme) => {
    const url = `${scheme}://user:hush@127.0.0.1:${await freePort()}/0`;
    const { exitCode, out, err } = await run(projectWith(driver), ["--store", url]);
    expect(exitCode).toBe(3);
    expect(out).toBe("");
    expect(err).toContain(`${scheme}://127.0.0.1`);
    expect(err).not.toContain("hush");
  },
);

const redis = await findRedis();
describe.runIf(redis)("Redis", () => {
  const url = redis?.url ?? "";
  const prefix = `hf-test-${randomBytes(6).toString("hex")}`;

  afterAll(async () => {
    const client = new Redis(url);
    const keys = await client.keys(`*${prefix}*`);
    if (keys.length > 0) await client.del(keys);
    await client.quit();
    await redis?.stop();
  });

  test.each(["ioredis", "redis"])("by the %s of the project", async (driver) => {
    const own = `${prefix}-${driver}`;
    const client = new Redis(url);
    await fill(redisStore({ client, prefix: own }));
    await client.quit();
    const argv = ["--store", url, "--prefix", own];
    const { exitCode, out } = await run(projectWith(driver), argv);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).tools).toEqual(["pay"]);
  });
});

const scratch = await findScratch();
describe.runIf(scratch)("Postgres", () => {
  afterAll(() => scratch?.drop());

  test.each(["pg", "postgres"])("by the %s of the project", async (driver) => {
    const { url, schema, pool } = scratch as NonNullable<typeof scratch>;
    const table = `holdfire_${driver}`;
    const store = postgresStore({ pool, schema, table });
    await store.migrate();
    await fill(store);
    const argv = ["--store", url, "--schema", schema, "--table", table];
    const { exitCode, out, err } = await run(projectWith(driver), argv);
    expect(err).toBe("");
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).tools).toEqual(["pay"]);
    const without = await run(projectWith(driver), [
      "--store",
      url,
      "--schema",
      schema,
      "--table",
      "other",
    ]);
    expect(without.exitCode).not.toBe(0);
  });
});
