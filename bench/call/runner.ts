/**
 * Starts the process of a case, and asks it for one round at a time.
 *
 * @module
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Case } from "./cases.ts";
import type { Round, RoundResult } from "./child.ts";
import type { Place } from "./guard.ts";

export interface Runner {
  readonly one: Case;
  measure(round: Round): Promise<RoundResult>;
  end(): void;
}

export function startRunner(one: Case, place: Place): Runner {
  const child = fork(
    fileURLToPath(new URL("child.ts", import.meta.url)),
    [JSON.stringify(one), JSON.stringify(place)],
    {
      // holdfire keeps its marks in `.holdfire` of the working directory.
      cwd: place.folder,
      execArgv: ["--expose-gc"],
      // The table has standard output for itself; what a library logs goes to standard error.
      stdio: ["ignore", 2, 2, "ipc"],
    },
  );
  return {
    one,
    measure: (round) =>
      new Promise((resolve) => {
        const exited = (code: number | null) =>
          resolve({ tag: "failed", why: `Its process ended with ${code}.` });
        child.once("exit", exited);
        child.once("message", (result) => {
          child.off("exit", exited);
          resolve(result as RoundResult);
        });
        child.send(round);
      }),
    end() {
      if (child.connected) child.disconnect();
    },
  };
}
