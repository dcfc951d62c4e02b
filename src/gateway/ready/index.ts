/**
 * Ready rules for servers that many people use, by the name that `--rules` takes. They say how to look where a tool of
 * the server can show what was done, and what a call is about; docs/gateway.md says what each was checked against.
 *
 * @module
 */

import type { ToolRules } from "../guard/rules.ts";
import { filesystem } from "./filesystem.ts";
import { github } from "./github.ts";
import { memory } from "./memory.ts";
import { serverGithub } from "./server-github.ts";
import { slack } from "./slack.ts";
import { stripe } from "./stripe.ts";

export const READY_RULES: Readonly<Record<string, ToolRules>> = {
  filesystem,
  github,
  memory,
  "server-github": serverGithub,
  slack,
  stripe,
};
