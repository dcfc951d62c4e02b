/**
 * The table of commands. A command is added here and nowhere else.
 *
 * @module
 */

import { approve, deny } from "./answer.ts";
import type { Command } from "./command.ts";
import { demo } from "./demo/command.ts";
import { doctor } from "./doctor/command.ts";
import { inbox } from "./inbox/command.ts";
import { init } from "./init/command.ts";
import { ls } from "./ls.ts";
import { prune } from "./prune.ts";
import { reconcile } from "./reconcile/command.ts";
import { resolve } from "./resolve.ts";
import { show } from "./show.ts";
import { stats } from "./stats/command.ts";
import { trust } from "./trust.ts";
import { watch } from "./watch.ts";

export const COMMANDS: readonly Command[] = [
  approve,
  deny,
  demo,
  doctor,
  inbox,
  init,
  ls,
  prune,
  reconcile,
  resolve,
  show,
  stats,
  trust,
  watch,
];
