/**
 * One thing that could have refuted a claim, and whether it did.
 *
 * @module
 */

import type { ClaimVerdict } from "./proof.ts";
import type { Trial, Trials } from "./trial.ts";
import type { Look } from "./watch.ts";

export type Check = Pick<ClaimVerdict, "holds" | "why">;

export const HOLDS = (why: string): Check => ({ holds: true, why });
export const FAILS = (why: string): Check => ({ holds: false, why });
export const UNTESTED = (why: string): Check => ({ holds: "untested", why });

export const NEEDS_CUTS: Check = UNTESTED("no reply could be cut: give sandbox.connect");

/** Why a trial with a cut shows nothing. `commits`: the service was to get the request and say yes. */
export function spoiled(trial: Trial, commits: boolean): Check | undefined {
  const { requests, sends, status } = trial;
  if (!requests) {
    return UNTESTED(
      "run sent nothing to cut: connect must use the base URL it is given, and carriesEffect must know the request",
    );
  }
  if (sends[0]?.ended.ok) return UNTESTED("run returned a result although its connection was cut");
  if (!commits) return undefined;
  const committed = status !== undefined && status >= 200 && status < 300;
  if (committed) return undefined;
  return UNTESTED(`the service did not commit: ${status ? `status ${status}` : "no answer"}`);
}

/** Why nothing can be said: an undisturbed call does not work here. */
export function broken({ answered: { sends } }: Trials): Check | undefined {
  const ended = sends[0]?.ended;
  return ended?.ok ? undefined : UNTESTED(`run failed: ${ended?.why ?? "it never ran"}`);
}

export const said = (look: Look | undefined): string =>
  look?.why ? `${look.reading} (${look.why})` : (look?.reading ?? "nothing");

export const ms = (duration: number): string => `${Math.ceil(duration)} ms`;
