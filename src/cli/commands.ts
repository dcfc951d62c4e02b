/**
 * The table of commands. A command is added here and nowhere else.
 *
 * @module
 */

import { chaos } from "./chaos/command.ts";
import type { Command } from "./command.ts";
import { consoleCommand } from "./console/command.ts";
import { approve, deny, resolve } from "./decisions/answer.ts";
import { inbox } from "./decisions/inbox.ts";
import { trust } from "./decisions/trust.ts";
import { demo } from "./demo/command.ts";
import { doctor } from "./doctor/command.ts";
import { init } from "./init/command.ts";
import { ls } from "./ledger/ls.ts";
import { prune } from "./ledger/prune.ts";
import { show } from "./ledger/show.ts";
import { stats } from "./ledger/stats.ts";
import { watch } from "./ledger/watch.ts";
import { mcp } from "./mcp/command.ts";
import { reconcile } from "./reconcile.ts";

export const COMMANDS: readonly Command[] = [
  approve,
  chaos,
  consoleCommand,
  deny,
  demo,
  doctor,
  inbox,
  init,
  ls,
  mcp,
  prune,
  reconcile,
  resolve,
  show,
  stats,
  trust,
  watch,
];
