/**
 * The file that tells the command line of your tools: `holdfire.config.ts`.
 *
 * `holdfire doctor` looks at what the tools declare; `holdfire reconcile` reads with their readers.
 * Neither fires one. Subpath export `"holdfire/config"`.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { GuardedTool } from "../engine/call/guarded-tool.ts";

/** The default export of `holdfire.config.ts`. */
export interface HoldfireConfig {
  /** What `createHoldfire()` returned. The command closes it when it is done. */
  readonly hf: Holdfire;
  /** What `hf.tool()` returned: all tools whose operations may be open. */
  readonly tools: readonly GuardedTool<never, unknown>[];
}

/** Gives the config its type. A function is called once, when a command needs it. */
export function defineConfig(
  config: HoldfireConfig | (() => HoldfireConfig | Promise<HoldfireConfig>),
): HoldfireConfig | (() => HoldfireConfig | Promise<HoldfireConfig>) {
  return config;
}
