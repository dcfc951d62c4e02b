/**
 * The retry that paid twice: one payout whose reply is lost, told in three acts.
 *
 * Nothing here is staged but the model. An agent on the AI SDK calls a payments server over MCP, which calls
 * a bank over HTTP, all on loopback; the bank pays and then resets the connection, and what is printed is what
 * it logged. Exits with 1 if the acts do not end in two payouts, one payout, and one payout that is held.
 *
 * `--fast` leaves out the pauses, which are there on a terminal only.
 *
 * @module
 */

import { setTimeout as wait } from "node:timers/promises";
import { styleText } from "node:util";
import { PAUSE_MS, showDemo } from "../src/cli/demo/command.ts";
import { AGENT_ACTS } from "./demo/agent-acts.ts";

const INTRO =
  "Pay 40.00 to ana, once. Agent → MCP server → bank. The bank pays, and its reply is lost.";
const isSlow = process.stdout.isTTY === true && !process.argv.includes("--fast");

// `npm run demo | head` closes the pipe early: no reader is left.
process.stdout.on("error", () => process.exit());

const asPromised = await showDemo(INTRO, AGENT_ACTS, {
  out: (line) => console.log(line),
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
  pause: async () => {
    if (isSlow) await wait(PAUSE_MS);
  },
});
process.exitCode = asPromised ? 0 : 1;
