/**
 * `holdfire mcp`: stands between an MCP host and an MCP server, and guards the server's tools.
 *
 * Standard input and output are the host's. What is for people goes to standard error.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { createHoldfire } from "../../create.ts";
import { runGateway } from "../../gateway/gateway.ts";
import { createGuard } from "../../gateway/guard/guard.ts";
import { connectServer } from "../../gateway/pipe/server-address.ts";
import { startServer } from "../../gateway/pipe/server-process.ts";
import { createReport } from "../../gateway/report.ts";
import { digestText } from "../../key/digest.ts";
import { systemClock } from "../../lang/clock.ts";
import { type Command, defineCommand, LEDGER, UsageError } from "../command.ts";
import { gatewayLedger, withLedger } from "../ledger/open-ledger.ts";
import { durationOf, wholeNumberOf } from "../parse.ts";
import { type Terminal, visible } from "../terminal.ts";
import { chaosOf, headersOf, repeatOf, urlOf } from "./choices.ts";
import { install } from "./install.ts";
import { loadRules } from "./load-rules.ts";

const text = (value: string, about: string) => ({ type: "string", value, about }) as const;
const texts = (value: string, about: string) =>
  ({ type: "string", multiple: true, value, about }) as const;
const flag = (about: string) => ({ type: "boolean", about }) as const;

const OPTIONS = {
  ...LEDGER,
  as: text("LABEL", "Whose calls they are: one label for each host."),
  server: text("NAME", "The server's name in the ledger and in rules."),
  url: text("URL", "The server's address, in place of a command."),
  header: texts("NAME: VALUE", "Sent to that address; $NAME stands for an environment variable."),
  rules: texts("NAME|FILE", "What is known of its tools: a ready set, JSON, or a module."),
  repeat: text("ask|allow|replay", "A repeat soon after a received answer. Default ask."),
  within: text("10m", "How soon that is. Default 10m."),
  patience: text("30s", "How long the host waits for an answer at least. Default 30s."),
  lease: text("5s", "How long a gateway that died counts as alive. Default 5s."),
  "max-message": text("BYTES", "The longest message that is handed on. Default 67108864."),
  unguarded: flag("Guards nothing: shows what the host does by itself."),
  chaos: text("lose-reply|slow|die|twice", "Breaks answers, after the server has done its work."),
  nth: text("N", "Chaos: the call that is broken. Default: at random."),
  tool: text("NAME", "Chaos: only calls of this tool."),
  seed: text("N", "Chaos: repeats what was random. Printed if not given."),
  slow: text("70s", "Chaos: how late a slow answer is. Default 70s."),
  host: text("NAME", "Install: claude-desktop, claude-code, cursor or vscode."),
  file: text("FILE", "Install: the host's configuration. Default: its own."),
  yes: flag("Install: writes the file, beside a copy of it as it was."),
  report: flag("At the end, prints what happened to standard error."),
} as const;

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Of a tool's answer, as far as it is kept for a host that has not received it. */
const MAX_KEPT_BYTES = 1024 * 1024;

export const mcp: Command = defineCommand({
  name: "mcp",
  summary: "Stands between an MCP host and a server, and guards its tools.",
  takes: ["[install|uninstall]", "[NAME]"],
  rest: "SERVER ARGS...",
  about: [
    "In a host's configuration, put `holdfire mcp --` before the server's command. Everything passes through, but for tool calls that may write: one whose answer was lost is answered from the ledger, read or held, and not made twice.",
    "`holdfire mcp install NAME --host cursor` shows what to change in a host's configuration, and changes it with --yes; uninstall takes it back.",
    "The ledger is ~/.holdfire/ledger.db, unless --store or HOLDFIRE_STORE names another. `holdfire inbox` and the other commands read it, too, where a project has none of its own. It ends with the server's exit code.",
  ],
  options: OPTIONS,
  async run({ values, positionals, rest }, terminal) {
    const [action, name] = positionals;
    if (action === "install" || action === "uninstall") {
      return install(action, name, values, terminal);
    }
    if (action !== undefined) {
      throw new UsageError(`There is no "mcp ${visible(action)}".`, "Write -- before the server.");
    }
    const [command, ...args] = rest;
    if ((command === undefined) === (values.url === undefined)) {
      const hint = "Write: holdfire mcp [OPTIONS] -- SERVER ARGS..., or --url URL.";
      throw new UsageError("The server's command is missing.", hint);
    }
    const url = urlOf(values.url);
    const headers = headersOf(values.header, terminal.env);
    const label = values.as ?? "default";
    const server = values.server ?? (url ? `${url.host}${url.pathname}` : nameOf(rest));
    const rules = await loadRules(values.rules, server, terminal.cwd);
    const repeat = repeatOf(values.repeat);
    const withinMs = durationOf("within", values.within) ?? 600_000;
    const patienceMs = durationOf("patience", values.patience) ?? 30_000;
    const aliveMs = durationOf("lease", values.lease) ?? 5_000;
    const maxMessageBytes =
      wholeNumberOf("max-message", values["max-message"], { min: 1_024 }) ?? MAX_MESSAGE_BYTES;
    const folder = url ? undefined : terminal.cwd;
    const whose = { label, user: userName(), server, folder };
    const log = (line: string) => terminal.err(`holdfire: ${line}`);
    const store = await ledgerAt(values.store, terminal);
    const chaos = chaosOf(values, log);

    return withLedger({ ...values, store }, terminal, async (_, opened) => {
      const hf = createHoldfire({
        app: "holdfire-mcp",
        store: opened.store,
        witness: opened.witness,
        tenant: values.tenant,
        payloads: { maxBytes: MAX_KEPT_BYTES },
      });
      const report = createReport(hf);
      const { cwd, env } = terminal;
      const failed = (error: Error) => log(`The server cannot be started: ${error.message}`);
      const program = { command: command ?? "", args, cwd, env: { ...env }, failed };
      const upstream = url
        ? connectServer({ url, headers, fetch, maxMessageBytes, clock: systemClock, log })
        : startServer({ ...program, maxMessageBytes });
      const leaving = new AbortController();
      const handOn = (signal: NodeJS.Signals) => {
        leaving.abort();
        upstream.signal(signal);
      };
      for (const signal of SIGNALS) process.on(signal, handOn);
      const { count: onEvent } = report;
      const ledger = opened.where;
      const guard = { whose, ledger, rules, repeat, withinMs, patienceMs, aliveMs, log, onEvent };
      try {
        return await runGateway({
          input: process.stdin,
          output: process.stdout,
          upstream,
          maxMessageBytes,
          log,
          chaos,
          leaving: leaving.signal,
          guard: values.unguarded ? undefined : (wires) => createGuard({ ...guard, hf }, wires),
        });
      } finally {
        for (const signal of SIGNALS) process.off(signal, handOn);
        await hf.close();
        if (values.report) for (const line of report.lines()) log(line);
      }
    });
  },
});

/** By its command, where it has no name: two of one program with other arguments are two servers. */
function nameOf(command: readonly string[]): string {
  const program = command.findLast((part) => /^[@\w][\w@./-]*$/.test(part)) ?? "server";
  const short = program.split(/[/\\]/).slice(-2).join("/");
  return `${short.slice(0, 40)}-${digestText("mcp-server", ...command).slice(0, 8)}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

/** The ledger's path or address. A file that is not there yet is made: a host cannot be asked to do that. */
async function ledgerAt(given: string | undefined, { env, cwd }: Terminal): Promise<string> {
  const chosen = given ?? gatewayLedger(env);
  if (chosen === undefined)
    throw new UsageError("There is no home folder. Name a ledger: --store FILE.");
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(chosen)) return chosen;
  const path = resolve(cwd, chosen);
  if (existsSync(path)) return path;
  const { sqliteStore } = await import("../../stores/sqlite/index.ts");
  const store = sqliteStore({ path });
  await store.open();
  await store.close();
  return path;
}
