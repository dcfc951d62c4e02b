import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { deltasIn, isDeltaName } from "../../src/cli/doctor/tools.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { start } from "./start.ts";

const newFolder = temporaryFolder();
const from = (path: string): string => JSON.stringify(pathToFileURL(resolve(path)).href);

function folderWith(config: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "holdfire.config.ts"), config);
  return folder;
}

const CONFIG = `
import { createHoldfire } from ${from("src/index.ts")};
import { defineConfig } from ${from("src/cli/config.ts")};
import { memoryStore } from ${from("src/stores/memory.ts")};
import { z } from ${from("node_modules/zod/index.js")};

const hf = createHoldfire({ store: memoryStore() });
const run = async (): Promise<void> => {};
const tools = [
  hf.tool({ name: "look", kind: "read", run }),
  hf.tool({ name: "pay", kind: "write", keyed: { forMs: 1_000 }, input: z.object({ cents: z.number() }), run }),
  hf.tool({ name: "post", kind: "write", input: z.object({ address: z.string(), createdBy: z.string() }), run }),
  hf.tool({
    name: "stock",
    kind: "destructive",
    readState: () => ({ tag: "absent" }) as never,
    input: z.object({ item: z.object({ amountToAdd: z.number() }), by: z.number() }),
    run,
  }),
  hf.tool({ name: "bare", kind: "write", precondition: () => 1, run }),
];
 export default defineConfig(EXPORTED);
`;

test.each([
  ["an object", "{ hf, tools }"],
  ["a function", "async () => ({ hf, tools })"],
])("a config that exports %s: blind writes and deltas are named", async (_, exported) => {
  const folder = folderWith(CONFIG.replace("EXPORTED", exported));
  const { exitCode, out, err } = await start(["doctor", "--config", "holdfire.config.ts"], folder);
  expect(err).toBe("");
  expect(exitCode).toBe(0);
  const lines = out
    .split("\n")
    .filter((line) => /^(?:look|pay|post|stock|bare|Not checked)\b/.test(line));
  expect(lines).toEqual([
    "post: neither keyed nor readable. A lost reply stays unknown until a person checks.",
    "stock: item.amountToAdd, by looks like a delta. Sent twice, it is applied twice.",
    "Not checked for deltas, because the schema does not list its properties: bare.",
  ]);
  const json = await start(["doctor", "--json", "--config", "holdfire.config.ts"], folder);
  expect(JSON.parse(json.out).tools).toEqual([
    { tool: "pay", kind: "write", blind: false, deltas: [] },
    { tool: "post", kind: "write", blind: true, deltas: [] },
    { tool: "stock", kind: "destructive", blind: false, deltas: ["item.amountToAdd", "by"] },
    { tool: "bare", kind: "write", blind: false },
  ]);
  expect(JSON.parse(json.out).guarded).toEqual({ read: 1, write: 3, destructive: 1 });
  expect(out).toContain("Guarded tools: 5 (1 read, 3 write, 1 destructive).");
  expect(JSON.parse(json.out).app).toBe(null);
  expect(out).toContain("No app: another program");
  // Looking at tools opens no ledger.
  expect(existsSync(join(folder, ".holdfire"))).toBe(false);
});

test("tools that a framework's guard has made are counted, too", async () => {
  const config = CONFIG.slice(0, CONFIG.indexOf("const tools"));
  const guard = `
    hf.tool({ name: "guarded", kind: "write", keyed: { forMs: 1 }, run: async () => 1 });
    export default defineConfig({ hf, tools: [] });
  `;
  const folder = folderWith(config + guard);
  const { out } = await start(["doctor", "--config", "holdfire.config.ts"], folder);
  expect(out).toContain("Guarded tools: 1 (0 read, 1 write, 0 destructive).");
  const none = folderWith(`${config} export default defineConfig({ hf, tools: [] });`);
  const { out: said } = await start(["doctor", "--config", "holdfire.config.ts"], none);
  expect(said).toContain("Guarded tools: 0. Make them with hf.tool or guardTools");
});

test.each([
  ["export default {};", "holdfire.config.ts has no holdfire."],
  ["export const config = 1;", "holdfire.config.ts has no holdfire."],
  ["throw new Error('on purpose');", "cannot be loaded: on purpose"],
  ["export default { hf: { forTenant() {} }, tools: [1] };", "tools must be a list"],
  ["export default { hf: { forTenant() {} } };", "tools must be a list"],
  [
    "const tool = Object.assign(() => {}, { toolName: 'x' }); export default { hf: { forTenant() {}, async close() {} }, tools: [tool] };",
    "another copy of holdfire",
  ],
])("the config %s is refused", async (text, message) => {
  const { exitCode, err } = await start(
    ["doctor", "--config", "holdfire.config.ts"],
    folderWith(text),
  );
  expect(exitCode).toBe(2);
  expect(err).toContain(message);
});

test("a config that is not there is told so", async () => {
  const { exitCode, err } = await start(["doctor", "--config", "other.ts"], folderWith(""));
  expect(exitCode).toBe(2);
  expect(err).toContain("There is no file");
});

test.each([
  ...["increment", "by", "add", "delta", "amountToAdd", "amount_to_add", "incrementBy", "add-tags"],
  ...["quantityDelta", "DELTA", "increaseAmount"],
])("%s looks like a delta", (name) => {
  expect(isDeltaName(name)).toBe(true);
});

test.each([
  ...["address", "createdBy", "sortBy", "baby", "amount", "additional", "paddle", "deltas3x", ""],
])("%j does not", (name) => {
  expect(isDeltaName(name)).toBe(false);
});

test("a schema is read as far as it can be", () => {
  const properties = { list: { type: "array", items: { properties: { delta: {} } } } };
  expect(deltasIn({ type: "object", properties })).toEqual(["list.delta"]);
  expect(deltasIn({ anyOf: [{ properties: { by: {} } }, { properties: { by: {} } }] })).toEqual([
    "by",
  ]);
  for (const unreadable of [undefined, null, 7, {}, { typed: true }, { "~standard": {} }]) {
    expect(deltasIn(unreadable)).toBeUndefined();
  }
  const circle: Record<string, unknown> = {};
  circle.properties = { again: circle };
  expect(deltasIn(circle)).toEqual([]);
});
