/**
 * Known-bad variants. Each must be caught by the tests it names, and by those alone: a proof
 * that has never failed proves nothing.
 */

import type { PlantedBug } from "./planted-bug.ts";
import { toldBugs } from "./told-bugs.ts";
import { wireBugs } from "./wire-bugs.ts";

export const bugs: readonly PlantedBug[] = [
  {
    name: "claim after send",
    edits: [
      {
        file: "src/engine/steps/claim.ts",
        find: "        const moved = await claimInTime(operation, engine, move, visit.guess, lane, leaseAskedAt);\n",
        replace: `  const nothingThere = (await engine.ledger.read(operation.ref)) === undefined;
  const claiming = claimInTime(operation, engine, move, visit.guess, lane, leaseAskedAt);
  const { tag, record } = apply(undefined, move, 0);
  const isFree = nothingThere && tag === "write" && record;
  const stored = { record, version: 1, leaseUntil: undefined };
  const moved = isFree ? { tag: "moved", stored } : await claiming;
`,
      },
      {
        file: "src/engine/steps/claim.ts",
        find: 'import type { LaneChanged, Moved } from "../../ledger/ledger.ts";\n',
        replace: `import { apply } from "../../ledger/moves/apply.ts";
import type { LaneChanged, Moved } from "../../ledger/ledger.ts";
`,
      },
    ],
    caughtBy: [
      "nothing is sent before the ledger has acknowledged the claim",
      "a claim that was acknowledged outlives a power cut",
    ],
  },
  {
    // A bug of a store, so it is planted in the simulated one.
    name: "claim not fsynced",
    edits: [
      {
        file: "test/battery/world/store.ts",
        find: "    await sync(seq, id);\n",
        replace: "    void sync(seq, id);\n",
      },
    ],
    caughtBy: ["a claim that was acknowledged outlives a power cut"],
  },
  {
    name: "new key per attempt",
    edits: [
      {
        file: "src/engine/steps/attempt.ts",
        find: "  const key = keyOf(operation, generation);\n",
        replace: '  const key = keyOf(operation, generation) + (n > 1 ? "-" + String(n) : "");\n',
      },
    ],
    caughtBy: ["every attempt carries the same key"],
  },
  {
    name: "timeout = failed",
    edits: [
      {
        file: "src/engine/steps/classify-attempt.ts",
        find: 'n: attempted.n,\n    verdict: "unknown",',
        replace: 'n: attempted.n,\n    verdict: "not_sent",',
      },
    ],
    caughtBy: ["an attempt whose time was up may still land", "an open operation does not age"],
  },
  {
    name: "absent read = resend at once",
    edits: [
      {
        file: "src/engine/steps/parts/decide.ts",
        find: 'typeof due === "number" && lastRead.beganAt > due',
        replace: "due !== undefined",
      },
    ],
    caughtBy: [
      "an absence proves nothing while the service can still commit",
      "a clock of the store that is set forward makes no absence a proof",
      "who takes over fires only when what the dead owner sent can no longer commit",
    ],
  },
  {
    name: "settle without epoch",
    edits: [
      {
        file: "src/ledger/moves/apply.ts",
        find: '    case "settle": {\n      const why = whyNotOwner(record, move);\n',
        replace:
          '    case "settle": {\n      const why = record.state.tag === "claimed" ? undefined : "stale";\n',
      },
    ],
    caughtBy: ["an owner that was succeeded cannot settle"],
  },
  {
    name: "lease by wall clock",
    edits: [
      {
        file: "src/ledger/ledger.ts",
        find: "apply(stored, move, time.said())",
        replace: "apply(stored, move, clock.now())",
      },
    ],
    caughtBy: ["a wall clock that runs ahead takes nobody's lease"],
  },
  {
    name: "exception deletes row",
    edits: [
      {
        file: "src/ledger/moves/apply.ts",
        find: "      // A filed commit outweighs an owner that gives up",
        replace: `      if (move.state.tag === "unknown" && move.updates.at(-1)?.endedAt !== undefined) {
        return { tag: "write", record: undefined, lease: "none" };
      }
      // A filed commit outweighs an owner that gives up`,
      },
    ],
    caughtBy: [
      "what threw after it was sent stays in the ledger",
      "the same intent in another turn has no second key while the first may still land",
      "a turn that tried again has no second key, also when the first is over by then",
      "a read that was not answered is not an absence",
      "what was done out of sight is not told as not sent",
    ],
  },
  {
    name: "serialisation error = retry",
    edits: [
      {
        file: "src/engine/steps/attempt.ts",
        find: ": { value };\n",
        replace: ": { value: JSON.parse(JSON.stringify(value)) };\n",
      },
    ],
    caughtBy: ["a result that cannot be stored was still committed"],
  },
  {
    name: "payload mismatch ignored",
    edits: [
      {
        file: "src/ledger/moves/claim-moves.ts",
        find: '  const { state } = record;\n  if (record.fingerprint !== move.draft.identity.fingerprint) return refused("conflict");\n',
        replace: "  const { state } = record;\n",
      },
    ],
    caughtBy: ["another intent under the same key is a conflict"],
  },
  {
    name: "approval checked by id only",
    edits: [
      {
        file: "src/gate/ask-person.ts",
        find: " &&\n        earlier.digest === digestFor(earlier),",
        replace: ",",
      },
    ],
    caughtBy: ["a yes is good for the arguments that were shown, and for no others"],
  },
  {
    name: "approval reusable",
    edits: [
      {
        file: "src/engine/claim-terms.ts",
        find: '  if (state.tag !== "not_applied" || abandonedFor !== undefined) return false;\n',
        replace: '  if (state.tag === "not_applied") return false;\n',
      },
      {
        file: "src/ledger/moves/claim-moves.ts",
        find: '      if (move.needsYes) return refused("held");\n      const next = again(record, state, move);',
        replace: "      const next = again(record, state, move);",
      },
    ],
    caughtBy: ["a yes is spent by the claim, and the next firing needs another"],
  },
  {
    name: "abort = not applied",
    edits: [
      {
        file: "src/engine/call/join.ts",
        find: '    one.resolve({ ...commonOf(one.operation, undefined, engine), status: "in_progress" });\n',
        replace:
          '    one.resolve({ ...commonOf(one.operation, undefined, engine), status: "not_applied", reason: "aborted" });\n',
      },
    ],
    caughtBy: ["an abort after the send is not a cancellation"],
  },
  {
    name: "reaper deletes open rows",
    edits: [
      {
        file: "src/ledger/prune.ts",
        find: '  if (isOpen(record.state)) return "keep";\n',
        replace: "",
      },
    ],
    caughtBy: ["an open operation does not age"],
  },
  {
    name: "another turn, another key",
    edits: [
      {
        file: "src/engine/thread.ts",
        find: "  if (isOpen(state)) return false;\n",
        replace: '  if (isOpen(state)) return state.tag === "unknown";\n',
      },
    ],
    caughtBy: [
      "the same intent in another turn has no second key while the first may still land",
      "a turn that tried again has no second key, also when the first is over by then",
    ],
  },
  {
    name: "a released hold fires a second key",
    edits: [
      {
        file: "src/engine/thread.ts",
        find: "  if (isOpen(state)) return false;\n",
        replace: '  if (isOpen(state)) return state.tag === "held";\n',
      },
    ],
    caughtBy: ["a hold that is released fires one key, whichever turns have asked for it"],
  },
  {
    name: "the second try again makes a second key",
    edits: [
      {
        file: "src/engine/thread.ts",
        find: "    return before === undefined ? undefined : joinOf(before);\n",
        replace: "    return before === id ? joinOf(before) : undefined;\n",
      },
    ],
    caughtBy: ["a turn that tried again has no second key, also when the first is over by then"],
  },
  {
    name: "the program's name left out of the key",
    edits: [
      {
        file: "src/key/mint.ts",
        find: 'beginning("operation", app, tenant)',
        replace: 'beginning("operation", app && undefined, tenant)',
      },
    ],
    caughtBy: ["two programs with one account at a service have two keys for the same wish"],
  },
  ...wireBugs,
  ...toldBugs,
];
