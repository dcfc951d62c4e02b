/**
 * `holdfire demo`: the retry that paid twice, in three acts over plain HTTP on this machine.
 *
 * @module
 */

import { setTimeout as wait } from "node:timers/promises";
import { type Command, defineCommand, EXIT } from "../command.ts";
import { jsonText, paint } from "../terminal.ts";
import { PLAIN_ACTS } from "./acts.ts";
import { type Played, playAct, showDemo } from "./play.ts";

/** How long a line stands before the next one, in milliseconds. */
export const PAUSE_MS = 400;

const INTRO = "Pay 40.00 to ana, once. The bank pays, and its reply is lost.";

export const demo: Command = defineCommand({
  name: "demo",
  summary: "Shows the retry that paid twice, and how holdfire prevents it.",
  takes: [],
  about: [
    "Three acts against a real HTTP service that it starts on this machine; nothing leaves it, and no ledger is touched. First a loop that tries again: two payouts. Then the same with holdfire: one payout, known by a read. Then a tool that cannot be read: one payout, held, and a person is asked.",
    "Ends with 1 if the numbers differ.",
  ],
  options: {
    fast: {
      type: "boolean",
      about: "Without pauses. Outside a terminal there are none.",
    },
  },
  async run({ values }, terminal) {
    if (values.json) {
      const played: Played[] = [];
      for (const act of PLAIN_ACTS) played.push(await playAct(act));
      terminal.out(jsonText({ acts: played }));
      return played.every(({ asPromised }) => asPromised) ? EXIT.ok : EXIT.found;
    }
    const isSlow = terminal.isTTY && !values.fast;
    const asPromised = await showDemo(INTRO, PLAIN_ACTS, {
      out: terminal.out,
      paint: (style, text) => paint(terminal, style, text),
      pause: async () => {
        if (isSlow) await wait(PAUSE_MS, undefined, { signal: terminal.signal }).catch(() => {});
      },
    });
    return asPromised ? EXIT.ok : EXIT.found;
  },
});
