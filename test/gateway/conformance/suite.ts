/**
 * Runs scenarios of the official conformance suite one by one, and tells what each of them checked.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];
export type Side = "client" | "server";

/** The newest version of the suite, which knows both revisions. */
const at = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/conformance-next/${path}`, import.meta.url));
const SUITE = at("dist/index.js");
const SCENARIO_MS = 120_000;

/** Stands for a scenario of which the suite has left no checks. */
export const NOT_RUN = "not run";

/** What a scenario has checked, by the ids of its checks. */
export interface Checked {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

/**
 * The scenarios that the suite has for a revision: those that an implementation must pass, and those that are run and
 * not counted.
 */
export function scenariosOf(
  revision: Revision,
  side: Side,
): { readonly required: readonly string[]; readonly optional: readonly string[] } {
  const text = readFileSync(at(`requirements/${revision}.yaml`), "utf8");
  const [, section = ""] = new RegExp(`^${side}:\\n((?:  - .*\\n)+)`, "m").exec(text) ?? [];
  const optional = text.matchAll(/^ {2}- scenario: (\S+)\n {4}leg: (\w+)$/gm);
  return {
    required: [...section.matchAll(/- (\S+)/g)].map(([, name = ""]) => name),
    optional: [...optional].filter(([, , leg]) => leg === side).map(([, name = ""]) => name),
  };
}

/** @param what `--command COMMAND` of a client, or `--url URL` of a server */
export async function runScenario(
  side: Side,
  scenario: string,
  revision: Revision,
  what: readonly string[],
): Promise<Checked> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-conformance-"));
  // What is no part of a revision runs only by force.
  const args = [
    "--scenario",
    scenario,
    "--spec-version",
    revision,
    "--force",
    "--output-dir",
    folder,
  ];
  const timeout = ["--timeout", String(SCENARIO_MS)];
  try {
    // It ends with 1 for a check that failed; what counts is in the file.
    await promisify(execFile)(process.execPath, [SUITE, side, ...what, ...args, ...timeout], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch(() => {});
    const [file] = globSync(join(folder, "**", "checks.json"));
    const checks: { id: string; status: string }[] = file
      ? JSON.parse(readFileSync(file, "utf8"))
      : [{ id: NOT_RUN, status: "FAILURE" }];
    const ids = (...statuses: readonly string[]) => [
      ...new Set(checks.filter(({ status }) => statuses.includes(status)).map(({ id }) => id)),
    ];
    return { passed: ids("SUCCESS").sort(), failed: ids("FAILURE").sort() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
