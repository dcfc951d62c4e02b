/**
 * Hands the orders on to child processes whose environment is not that of their parent: MCP clients give their servers
 * a few variables only.
 *
 * @module
 */

import { ChildProcess } from "node:child_process";
import { ORDERS } from "../orders.ts";

const HANDED_ON = [ORDERS, "NODE_OPTIONS", "HOLDFIRE_STORE"];

interface Spawning {
  /** `NAME=value` each. */
  readonly envPairs?: string[] | undefined;
}

export function handOnOrders(env: Readonly<Record<string, string | undefined>>): void {
  const prototype = ChildProcess.prototype as unknown as {
    spawn(options: Spawning): unknown;
  };
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    const pairs = options.envPairs;
    const has = (name: string) => pairs?.some((pair) => pair.startsWith(`${name}=`));
    for (const name of HANDED_ON) {
      if (Array.isArray(pairs) && env[name] !== undefined && !has(name)) {
        pairs.push(`${name}=${env[name]}`);
      }
    }
    return spawn.call(this, options);
  };
}
