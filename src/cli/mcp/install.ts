/**
 * `holdfire mcp install` and `uninstall`: show what would change in a host's configuration, and change it when told to,
 * with a copy of the file as it was.
 *
 * @module
 */

import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { compareLines } from "../../gate/line-diff.ts";
import { configOf, HOSTS, unwrapServer, wrapServer } from "../../gateway/host-config.ts";
import { EXIT, FailedError, UsageError } from "../command.ts";
import { type Terminal, visible } from "../terminal.ts";
import { isReady, loadRules } from "./load-rules.ts";

export interface InstallChoice {
  readonly host?: string | undefined;
  readonly file?: string | undefined;
  readonly as?: string | undefined;
  readonly rules: readonly string[];
  readonly yes: boolean;
}

export async function install(
  action: "install" | "uninstall",
  server: string | undefined,
  { host: given, file, as, rules, yes }: InstallChoice,
  terminal: Terminal,
): Promise<number> {
  const host = HOSTS.find((name) => name === given);
  if (!host) throw new UsageError(`--host must be one of ${HOSTS.join(", ")}.`);
  if (server === undefined) throw new UsageError("The name of the server is missing.");
  const { cwd, env } = terminal;
  const usual = configOf(host, { platform: process.platform, home: homedir(), cwd, env });
  const config = file === undefined ? usual : { ...usual, path: resolve(cwd, file) };
  const { path } = config;
  if (!existsSync(path)) throw new FailedError(`There is no ${path}. Name the file with --file.`);
  const text = readFileSync(path, "utf8");
  // A mistake in them is told now, and not by a server that does not start.
  await loadRules(rules, server, cwd);
  // Hosts start a server in any folder.
  const named = rules.flatMap((one) => ["--rules", isReady(one) ? one : resolve(cwd, one)]);
  const { before, after } =
    action === "install"
      ? wrapServer(text, config, server, ["--as", as ?? host, ...named])
      : unwrapServer(text, config, server);
  // Only what changes: the rest of the file may have secrets.
  for (const { sign, line } of compareLines(before.split("\n"), after.split("\n"))) {
    if (sign !== " ") terminal.out(`${sign} ${visible(line)}`);
  }
  if (!yes) {
    terminal.err(`Nothing was written. --yes writes ${path}.`);
    return EXIT.ok;
  }
  const copy = `${path}.holdfire-backup`;
  copyFileSync(path, copy);
  writeFileSync(path, after);
  terminal.err(`Written: ${path}. As it was: ${copy}. Start the host again.`);
  return EXIT.ok;
}
