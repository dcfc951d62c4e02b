/**
 * Loads what is known of a server's tools: a ready set by its name, a JSON file, or a module with an export `mcp`, as
 * `holdfire.config.ts` may have.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  checkRules,
  type GatewayRules,
  rulesOf,
  type ToolRules,
} from "../../gateway/guard/rules.ts";
import { READY_RULES } from "../../gateway/ready/index.ts";
import { UsageError } from "../command.ts";
import { nearest } from "../parse.ts";
import { visible } from "../terminal.ts";

/** Whether it is the name of a ready set, and no path. */
export const isReady = (given: string): boolean => /^[\w-]+$/.test(given);

/** All of them together; of what two say of one tool, the later counts. */
export async function loadRules(
  given: readonly string[],
  server: string,
  cwd: string,
): Promise<ToolRules> {
  const rules: GatewayRules[] = [];
  for (const one of given) {
    rules.push(isReady(one) ? ready(one, server) : await fromFile(resolve(cwd, one), server));
  }
  return rulesOf(rules, server);
}

function ready(name: string, server: string): GatewayRules {
  const tools = Object.hasOwn(READY_RULES, name) ? READY_RULES[name] : undefined;
  if (tools) return { servers: { [server]: tools } };
  const names = Object.keys(READY_RULES);
  const meant = nearest(name, names);
  const hint = meant ? `Did you mean ${meant}?` : `There are ${names.join(", ")}.`;
  throw new UsageError(
    `There are no ready rules "${visible(name)}".`,
    `${hint} A file is named with its folder: ./${visible(name)}`,
  );
}

async function fromFile(path: string, server: string): Promise<GatewayRules> {
  let rules: unknown;
  try {
    if (extname(path) === ".json") rules = JSON.parse(readFileSync(path, "utf8"));
    else rules = (await import(pathToFileURL(path).href)).mcp;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${visible(path)} cannot be loaded: ${why}`);
  }
  if (rules === undefined) {
    const hint = "Write: export const mcp = { servers: { NAME: { TOOL: { … } } } };";
    throw new UsageError(`${visible(path)} has no export "mcp".`, hint);
  }
  try {
    checkRules(rules as GatewayRules);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${visible(path)}: ${why}`);
  }
  const { servers } = rules as GatewayRules;
  if (Object.keys(servers).length > 0 && !Object.hasOwn(servers, server)) {
    throw new UsageError(
      `${visible(path)} has no rules for the server "${visible(server)}".`,
      `It has some for ${Object.keys(servers)
        .map((name) => visible(name))
        .join(", ")}. Name the server with --server.`,
    );
  }
  return rules as GatewayRules;
}
