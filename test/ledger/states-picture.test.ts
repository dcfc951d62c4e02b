/** The picture of the states shows the states and the moves that `apply` knows, and no others. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/ledger/moves/apply.ts";
import { anyMove, anyStored } from "./arbitrary.ts";

const picture = readFileSync("docs/states.svg", "utf8");
const drawnStates = [...picture.matchAll(/data-state="(\w+)"/g)].map(([, state = ""]) => state);
const drawn = [
  ...picture.matchAll(/data-from="([\w*]+)" data-to="([\w*]+)" data-moves="([\w ]+)"/g),
].flatMap(([, from = "", to = "", moves = ""]) =>
  moves.split(" ").map((move) => ({ from, move, to })),
);

type Arrow = (typeof drawn)[number];

/** Moves that lead from one state to another; and the one that gives an operation to another owner. */
function legal(): readonly Arrow[] {
  const found = new Map<string, Arrow>();
  const every = fc.tuple(anyStored, anyMove, fc.integer({ min: 0, max: 200 }));
  for (const [stored, move, now] of fc.sample(every, { seed: 7, numRuns: 60_000 })) {
    const applied = apply(stored, move, now);
    if (applied.tag !== "write") continue;
    const from = stored?.record.state.tag ?? "nothing";
    const to = applied.record?.state.tag ?? "nothing";
    const isTakeover = from === "claimed" && move.move === "claim";
    if (from !== to || isTakeover)
      found.set(`${from} ${move.move} ${to}`, { from, move: move.move, to });
  }
  return [...found.values()];
}

const reachedFrom = (arrows: readonly Arrow[], start: string): ReadonlySet<string> => {
  const reached = new Set([start]);
  for (const from of reached)
    for (const arrow of arrows) if (arrow.from === from) reached.add(arrow.to);
  return reached;
};

const covers = (one: Arrow, other: Arrow): boolean =>
  one.move === other.move &&
  (one.from === "*" || one.from === other.from) &&
  (one.to === "*" || one.to === other.to);

test("the picture of the states is what the ledger does", () => {
  const all = legal();
  const reached = reachedFrom(all, "nothing");
  const arrows = all.filter(({ from }) => reached.has(from));
  expect([...drawnStates].sort()).toEqual([...reached].sort());
  // A withdrawal that finds a commit filed meanwhile is a late reply, too.
  const asFiled = ({ move, to, from }: Arrow): Arrow =>
    move === "withdraw" && to === "committed" ? { from, move: "file", to } : { from, move, to };
  expect(arrows.map(asFiled).filter((arrow) => !drawn.some((one) => covers(one, arrow)))).toEqual(
    [],
  );
  expect(drawn.filter((one) => !arrows.some((arrow) => covers(one, arrow)))).toEqual([]);
});
