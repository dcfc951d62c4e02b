/**
 * The table of commands. A command is added here and nowhere else.
 *
 * @module
 */

import type { Command } from "./command.ts";
import { doctor } from "./doctor/command.ts";

export const COMMANDS: readonly Command[] = [doctor];
