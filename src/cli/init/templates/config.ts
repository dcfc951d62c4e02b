/**
 * `holdfire.config.ts` for frameworks: their adapters make the tools, so there is none to list.
 *
 * @module
 */

import { code, type Template } from "../template.ts";

export const frameworkConfig: NonNullable<Template["config"]> = () => code`
  import { createHoldfire } from "holdfire";
  import { defineConfig } from "holdfire/config";

  /** Remembers in .holdfire/ledger.db. The rest of the program imports it from here. */
  export const hf = createHoldfire();

  /** What npx holdfire looks at. Tools that you make by hf.tool() go into the list. */
  export default defineConfig({ hf, tools: [] });
`;
