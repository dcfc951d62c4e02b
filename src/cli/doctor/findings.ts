/**
 * What the dependencies of a project mean: who retries, who is covered, and what it multiplies to. Pure
 * decisions on what was found.
 *
 * @module
 */

import type { KnownClient } from "../../integrations/shared/retries/retry-catalogue.ts";
import type { Dependency } from "./project.ts";

export interface Finding {
  readonly client: KnownClient;
  /** The packages of this client that the project has. */
  readonly packages: readonly Dependency[];
  readonly direct: boolean;
  /**
   * `seen`: the source names its `ownRetries`. `not_seen`: there is one, and no file names it.
   * `none`: there is none; it retries only where the program asks it to.
   */
  readonly owned: "seen" | "not_seen" | "none";
}

/** `@aws-sdk/client-*` stands for all that begin so. */
export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** A loop that is only a transitive dependency says nothing of this program. */
export function findingsOf(
  known: readonly KnownClient[],
  dependencies: readonly Dependency[],
  seen: ReadonlySet<string>,
): readonly Finding[] {
  return known.flatMap((client) => {
    const packages = dependencies.filter(({ name, direct }) => {
      const isOne = client.packages.some((pattern) => matches(pattern, name));
      return isOne && (direct || client.when === "always");
    });
    if (packages.length === 0) return [];
    packages.sort((a, b) => Number(b.direct) - Number(a.direct));
    const direct = packages.some((dependency) => dependency.direct);
    const { subpath } = client;
    const owned = subpath === undefined ? "none" : seen.has(subpath) ? "seen" : "not_seen";
    return [{ client, packages, direct, owned } as const];
  });
}

/**
 * What retries by itself, is a direct dependency, and has no owner: what `--strict` is about. A
 * transitive dependency is the business of the package that depends on it.
 */
export const uncovered = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(
    ({ client, direct, owned }) => client.when === "always" && direct && owned !== "seen",
  );

export interface WorstCase {
  /** From the outermost to the innermost. */
  readonly layers: readonly { readonly name: string; readonly requests: number }[];
  readonly requests: number;
  /** Some of them retry only where the program asks them to. */
  readonly asked: readonly string[];
}

/**
 * Loops nest in each other, and the one that sends stands inside them all: of those that send, only the
 * worst counts, for one call goes through one of them.
 */
export function worstCaseOf(findings: readonly Finding[]): WorstCase | undefined {
  const open = findings
    .filter(({ owned, direct }) => owned !== "seen" && direct)
    .map(({ client }) => client);
  const loops = open.filter(({ layer }) => layer === "loop");
  const senders = open.filter(({ layer }) => layer === "sender");
  const inner = senders.toSorted((a, b) => b.requests - a.requests)[0];
  const layers = inner ? [...loops, inner] : loops;
  if (layers.length === 0) return undefined;
  return {
    layers: layers.map(({ name, requests }) => ({ name, requests })),
    requests: layers.reduce((product, { requests }) => product * requests, 1),
    asked: layers.filter(({ when }) => when === "asked").map(({ name }) => name),
  };
}
