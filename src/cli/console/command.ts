/**
 * `holdfire console`: the ledger in a browser, on this machine, until Ctrl-C.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { userInfo } from "node:os";
import type { Holdfire } from "../../api.ts";
import { checkPerson } from "../../key/check-name.ts";
import { CONFIG, type Command, defineCommand, EXIT, LEDGER, UsageError } from "../command.ts";
import { withLedger } from "../ledger/open-ledger.ts";
import { loadConfig } from "../load-config.ts";
import { wholeNumberOf } from "../parse.ts";
import { jsonText, paint, type Terminal, visible } from "../terminal.ts";
import { openBrowser } from "./open-browser.ts";
import { serve } from "./serve.ts";

export const consoleCommand: Command = defineCommand({
  name: "console",
  summary: "Opens the ledger in a browser: inbox, operations, timelines, health.",
  takes: [],
  about: [
    "Serves a page on 127.0.0.1 and prints its address, with a random token that is valid until Ctrl-C. It is read-only; with --decide it also takes answers: approve, deny, it happened, it did not happen. They are recorded with the name of --by.",
    "With --config it uses the ledger of your holdfire.config.ts, and can have the readers of your tools look again at what is unknown. It loads nothing from outside and sends nothing.",
  ],
  options: {
    ...LEDGER,
    ...CONFIG,
    port: { type: "string", value: "N", about: "Default: one that is free." },
    decide: { type: "boolean", about: "Also takes answers." },
    by: {
      type: "string",
      value: "NAME",
      about: "Who answers. Default: your user name on this machine.",
    },
    "no-open": { type: "boolean", about: "Prints the address, and opens no browser." },
  },
  run: async ({ values }, terminal) => {
    const port = wholeNumberOf("port", values.port, { max: 65_535 }) ?? 0;
    const { decide, json, config } = values;
    const name = checkPerson(values.by ?? userInfo().username);
    if (config !== undefined && values.store !== undefined) {
      throw new UsageError(
        "Give either --store or --config.",
        "The config names its own ledger: leave --store out.",
      );
    }
    const run = (hf: Holdfire, where: string) =>
      show(hf, { where, port, decide, name, json, isOpened: !values["no-open"] }, terminal);
    if (config === undefined) {
      return withLedger(values, terminal, (hf, { where }) => run(hf, where));
    }
    const { hf } = await loadConfig(config, terminal);
    try {
      return await run(hf, config);
    } finally {
      await hf.close();
    }
  },
});

interface Wanted {
  readonly where: string;
  readonly port: number;
  readonly decide: boolean;
  readonly name: string;
  readonly json: boolean;
  readonly isOpened: boolean;
}

async function show(hf: Holdfire, wanted: Wanted, terminal: Terminal): Promise<number> {
  const { where, port, decide, name, json, isOpened } = wanted;
  const token = randomBytes(24).toString("base64url");
  const server = await serve(hf, { port, token, person: { name, mayDecide: decide } });
  // Behind the #, so that it is in no log and no Referer.
  const url = `${server.address}/#token=${token}`;
  let forgetPage = () => {};
  try {
    if (json) terminal.out(jsonText({ url, ledger: where, decide, by: name }, 0));
    else {
      terminal.out(paint(terminal, "bold", url));
      const may = decide
        ? `answers are recorded as ${visible(name)}`
        : "read-only; --decide to answer";
      terminal.err(`The ledger at ${visible(where)}, ${may}. Ctrl-C ends it.`);
      if (isOpened && terminal.isInteractive) forgetPage = openBrowser(url);
    }
    if (!terminal.signal.aborted) await once(terminal.signal, "abort");
    return EXIT.ok;
  } finally {
    forgetPage();
    await server.close();
  }
}
