/**
 * Loads `holdfire.config.ts` and checks what it exports. Node strips the types itself.
 *
 * The file is the user's own program: it runs with the user's rights, as any import does.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "./command.ts";
import type { HoldfireConfig } from "./config.ts";
import type { Terminal } from "./terminal.ts";

/** The usual names, in the order in which they are tried. */
export const CONFIG_NAMES: readonly string[] = ["ts", "mts", "js", "mjs"].map(
  (ending) => `holdfire.config.${ending}`,
);

/** `given`, else the first usual name in the folder; an error if there is none. */
export async function loadConfig(
  given: string | undefined,
  { cwd }: Terminal,
): Promise<HoldfireConfig> {
  const path = given === undefined ? findConfig(cwd) : resolve(cwd, given);
  if (path === undefined || !existsSync(path)) {
    const what = path === undefined ? `no ${CONFIG_NAMES[0]} in ${cwd}` : `no file ${path}`;
    throw new UsageError(`There is ${what}.`, "Name a config with --config FILE.");
  }
  let module: { readonly default?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} cannot be loaded: ${why}`);
  }
  const exported = module.default;
  return checked(typeof exported === "function" ? await exported() : exported, path);
}

const findConfig = (cwd: string): string | undefined =>
  CONFIG_NAMES.map((name) => resolve(cwd, name)).find((path) => existsSync(path));

function checked(config: unknown, path: string): HoldfireConfig {
  const { hf, tools } = Object(config) as Record<string, unknown>;
  if (typeof Object(hf).forTenant !== "function") {
    throw new UsageError(
      `The default export of ${path} has no holdfire.`,
      "Write: export default defineConfig({ hf, tools }), with hf from createHoldfire().",
    );
  }
  const isTool = (tool: unknown) =>
    typeof tool === "function" && typeof Object(tool).toolName === "string";
  if (!Array.isArray(tools) || !tools.every(isTool)) {
    throw new UsageError(`In ${path}, tools must be a list of what hf.tool() returned.`);
  }
  return config as HoldfireConfig;
}
