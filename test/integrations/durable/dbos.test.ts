/** A step that DBOS runs again replays: DBOS on a real Postgres, in processes that die. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPostgres } from "../../servers/postgres.ts";

const CHILD = fileURLToPath(new URL("dbos-child.ts", import.meta.url));
const postgres = await findPostgres();

describe.skipIf(!postgres)("DBOS", () => {
  function stage() {
    const folder = mkdtempSync(join(tmpdir(), "holdfire-dbos-"));
    const schema = `holdfire_dbos_${randomUUID().slice(0, 8)}`;
    const url = postgres?.url ?? "";
    onTestFinished(async () => {
      rmSync(folder, { recursive: true, force: true });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await client.end();
    });
    const live = async (how: string): Promise<number> => {
      const args = [CHILD, url, schema, folder, how];
      const running = promisify(execFile)(process.execPath, args, { timeout: 100_000 });
      return running.then(
        () => 0,
        (error) => {
          if (typeof error.code !== "number" || error.code === 1) throw error;
          return error.code;
        },
      );
    };
    const lines = (file: string): Record<string, unknown>[] =>
      existsSync(join(folder, file))
        ? readFileSync(join(folder, file), "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line))
        : [];
    return { live, lines };
  }

  test("after a crash between the effect and the step's record: one effect", async () => {
    const { live, lines } = stage();
    expect(await live("die")).toBe(7);
    expect(lines("effects")).toHaveLength(1);
    expect(lines("results")).toEqual([]);
    expect(await live("recover")).toBe(0);
    expect(lines("steps")).toHaveLength(2);
    expect(new Set(lines("steps").map(({ scope }) => scope))).toEqual(new Set(["dbos:order-7/0"]));
    expect(lines("effects")).toHaveLength(1);
    expect(lines("results")).toEqual([{ result: [{ receipt: expect.any(String) }] }]);
  }, 120_000);

  test("after a throw, which DBOS retries: one effect", async () => {
    const { live, lines } = stage();
    expect(await live("throw")).toBe(0);
    expect(lines("steps")).toHaveLength(2);
    expect(lines("effects")).toHaveLength(1);
    expect(lines("results")).toHaveLength(1);
  }, 120_000);
});
