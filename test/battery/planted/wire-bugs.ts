/** Known-bad variants of what is concluded from the wire, and of the times that licences rest on. */

import type { PlantedBug } from "./planted-bug.ts";

export const wireBugs: readonly PlantedBug[] = [
  {
    name: "blindness taken for not sent",
    edits: [
      {
        file: "src/wire/token.ts",
        find: "isPartial = isLost || token",
        replace: "isPartial = (isLost && false) || token",
      },
    ],
    caughtBy: ["what was done out of sight is not told as not sent"],
  },
  {
    name: "swallowed status taken for a yes",
    edits: [
      {
        file: "src/classify/classify.ts",
        find: "  if (!seen || isForRun(seen, facts)) return COMMITTED;\n",
        replace: "  if (!seen || !isYes(seen)) return COMMITTED;\n",
      },
    ],
    caughtBy: ["a value that was returned is no yes when the service said no"],
  },
  {
    name: "late request not noticed",
    edits: [
      {
        file: "src/wire/late-request.ts",
        find: "  terms.onLate();\n",
        replace: "",
      },
    ],
    caughtBy: ["a request that leaves after the end takes the certainty back"],
  },
  {
    name: "unanswered read taken for absent",
    edits: [
      {
        file: "src/engine/reader.ts",
        find: 'if (reading.reading === "absent" && !isAnswered(token)) return',
        replace: 'if (reading.reading === "absent" && !isAnswered(token) && !tool) return',
      },
    ],
    caughtBy: ["a read that was not answered is not an absence"],
  },
  {
    name: "forgetful store fires first",
    edits: [
      {
        file: "src/engine/steps/next-move.ts",
        find: "  (owned.operation.tool.readFirst || mayBeForgotten(owned, engine));\n",
        replace:
          "  (owned.operation.tool.readFirst || (mayBeForgotten(owned, engine) && false));\n",
      },
    ],
    caughtBy: ["where a record may have been forgotten, the state is read before anything is sent"],
  },
  {
    name: "short lease: resent before the dead owner's time is over",
    edits: [
      {
        file: "src/engine/steps/parts/windows.ts",
        find: "    const end = endedAt ?? endsBy;\n",
        replace: "    const end = endedAt ?? (endsBy === undefined ? undefined : 0);\n",
      },
    ],
    caughtBy: ["who takes over fires only when what the dead owner sent can no longer commit"],
  },
  {
    name: "the store's clock alone says when an absence is proof",
    edits: [
      {
        file: "src/engine/steps/parts/windows.ts",
        find: "  return Math.max(beganAt - Math.min(byWall, byMonotonic), 0);\n",
        replace: "  return 0 * Math.min(byWall, byMonotonic);\n",
      },
    ],
    caughtBy: ["a clock of the store that is set forward makes no absence a proof"],
  },
  {
    name: "a joiner's deadline lets an attempt send for longer",
    edits: [
      {
        file: "src/engine/steps/parts/lease.ts",
        find: "leftMs(time, at) > 0 &&",
        replace: "Math.max(leftMs(time, at), owned.execution.remainingMs()) > 0 &&",
      },
    ],
    caughtBy: [
      "who joins a call gives its attempt no time to send that was not noted",
      "a host that slept past the time of its attempt sends nothing more of it",
    ],
  },
  {
    name: "the time to send by one clock",
    edits: [
      {
        file: "src/engine/steps/parts/time-to-send.ts",
        find: "Math.min(end.monotonic - at.monotonic, end.wall - at.wall)",
        replace: "end.monotonic - at.monotonic",
      },
    ],
    caughtBy: ["a host that slept past the time of its attempt sends nothing more of it"],
  },
];
