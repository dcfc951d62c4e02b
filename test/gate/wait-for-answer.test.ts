/** A process that waits for a person hears the answer that another process took. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { start } from "../cli/start.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

const newFolder = temporaryFolder();

test("a yes given on the command line, by another process, is heard", async () => {
  const path = join(newFolder(), "ledger.db");
  const hf = createHoldfire({ store: sqliteStore({ path }) });
  const heard: string[] = [];
  hf.on("approval", ({ status }) => void heard.push(status));
  const drop = openBucket().drop(hf);
  const { id } = await drop.outcome(LOGS, ONCE);
  const waited = hf.approvals.wait(id);
  const { digest } = await waiting(hf);
  const argv = ["approve", id, "--by", "ana", "--digest", digest, "--store", path];
  expect(await start(argv, process.cwd())).toMatchObject({ exitCode: 0 });
  expect(await waited).toMatchObject({ status: "approved", by: "ana" });
  expect(heard).toEqual(["asked", "approved"]);
  expect(await drop.outcome(LOGS, ONCE)).toMatchObject({ status: "committed" });
  await hf.close();
});
