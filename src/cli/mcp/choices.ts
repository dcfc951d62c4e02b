/**
 * What was typed after `holdfire mcp`, checked: which answers are broken, which address with which headers, what a
 * repeat does.
 *
 * @module
 */

import { CHAOS_MODES, type Chaos, createChaos, seeded } from "../../gateway/break-answers.ts";
import type { Repeat } from "../../gateway/guard/rules.ts";
import { systemClock } from "../../lang/clock.ts";
import { UsageError } from "../command.ts";
import { durationOf, wholeNumberOf } from "../parse.ts";
import { type Terminal, visible } from "../terminal.ts";

interface ChaosChoice {
  readonly chaos?: string | undefined;
  readonly nth?: string | undefined;
  readonly tool?: string | undefined;
  readonly seed?: string | undefined;
  readonly slow?: string | undefined;
}

export function chaosOf(values: ChaosChoice, log: (line: string) => void): Chaos | undefined {
  const mode = CHAOS_MODES.find((one) => one === values.chaos);
  if (values.chaos === undefined) return undefined;
  if (!mode) throw new UsageError(`--chaos must be one of ${CHAOS_MODES.join(", ")}.`);
  const nth = wholeNumberOf("nth", values.nth);
  const seed = wholeNumberOf("seed", values.seed, { min: 0 }) ?? Date.now() % 1_000_000;
  if (nth === undefined) log(`chaos: --seed ${seed}`);
  return createChaos({
    mode,
    nth,
    tool: values.tool,
    slowMs: durationOf("slow", values.slow) ?? 70_000,
    random: seeded(seed),
    clock: systemClock,
    die: () => process.kill(process.pid, "SIGKILL"),
    log,
  });
}

export function urlOf(given: string | undefined): URL | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw new UsageError(
    `--url must be an address that begins with https://, got "${visible(given)}".`,
  );
}

/** A secret belongs in the environment and not in a command line, which others may see. */
export function headersOf(given: readonly string[], env: Terminal["env"]): Record<string, string> {
  return Object.fromEntries(
    given.map((header) => {
      const colon = header.indexOf(":");
      if (colon < 1) throw new UsageError(`--header needs "NAME: VALUE".`);
      const value = header.slice(colon + 1).trim();
      return [
        header.slice(0, colon),
        value.replaceAll(/\$(\w+)/g, (_, name) => variable(name, env)),
      ];
    }),
  );
}

function variable(name: string, env: Terminal["env"]): string {
  const value = env[name];
  if (value) return value;
  throw new UsageError(
    `--header names the environment variable ${name}, which is not set.`,
    "Hosts start servers with an environment of their own: set it in the host's configuration of this server.",
  );
}

export function repeatOf(given = "ask"): Repeat {
  if (given === "ask" || given === "allow" || given === "replay") return given;
  throw new UsageError('--repeat must be "ask", "allow" or "replay".');
}
