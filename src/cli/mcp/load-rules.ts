/**
 * Loads what is known of servers' tools: a JSON file, or a module with an export `mcp`, as `holdfire.config.ts` may
 * have.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkRules, type GatewayRules } from "../../gateway/guard/rules.ts";
import { UsageError } from "../command.ts";

export async function loadRules(given: string | undefined, cwd: string): Promise<GatewayRules> {
  if (given === undefined) return { servers: {} };
  const path = resolve(cwd, given);
  let rules: unknown;
  try {
    if (extname(path) === ".json") rules = JSON.parse(readFileSync(path, "utf8"));
    else rules = (await import(pathToFileURL(path).href)).mcp;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} cannot be loaded: ${why}`);
  }
  if (rules === undefined) throw new UsageError(`${path} has no export "mcp".`);
  return checkRules(rules as GatewayRules);
}
