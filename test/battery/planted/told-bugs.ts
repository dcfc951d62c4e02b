/** Known-bad variants of what follows from having told a caller that something is open. */

import type { PlantedBug } from "./planted-bug.ts";

export const toldBugs: readonly PlantedBug[] = [
  {
    name: "another wording passes",
    edits: [
      {
        file: "src/gate/told-open.ts",
        find: "      if (step === undefined) return Promise.resolve(undefined);\n",
        replace: '      if (step !== "") return Promise.resolve(undefined);\n',
      },
    ],
    caughtBy: ["a model that was told unknown and words its wish anew is held"],
  },
  {
    name: "abandoned, and resent by its key",
    edits: [
      {
        file: "src/engine/steps/parts/ownership.ts",
        find: 'record.abandonedFor === undefined ? undefined : "abandoned"',
        replace: "undefined",
      },
      {
        file: "src/ledger/moves/apply.ts",
        find: '      if (record.abandonedFor !== undefined) return refused("abandoned");\n',
        replace: "",
      },
    ],
    caughtBy: ["what a person gave up for another wording is not fired again"],
  },
  {
    name: "out of time taken for still running",
    edits: [
      {
        file: "src/engine/steps/next-move.ts",
        find: 'runs ? "still_running" : short',
        replace: '"still_running"',
      },
    ],
    caughtBy: ["what was answered is not told as still running"],
  },
];
