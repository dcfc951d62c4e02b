/**
 * `docs/scorecard.md` and its picture, made by the run whose figures they show.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { COMMITS_WITHIN_MS, TIMEOUT_MS } from "../fault.ts";
import type { Matrix } from "./matrix.ts";
import { drawMatrix, seedsText } from "./picture.ts";
import { stacksOf, stormsOf, sumsOf, type Table } from "./tables.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

export function writeScorecard(matrix: Matrix): void {
  writeFileSync(new URL("images/scorecard.svg", DOCS), drawMatrix(matrix));
  writeFileSync(new URL("scorecard.md", DOCS), markdownOf(matrix));
}

export function markdownOf(matrix: Matrix): string {
  const { date, version, runtime, seeds, seconds, columns, rows, cells, notBuilt } = matrix;
  const guarded = cells.filter(
    ({ stack, toolClass, score }) =>
      score !== undefined &&
      toolClass !== "neither" &&
      toolClass !== "liar" &&
      columns.some(({ id, isHoldfire }) => isHoldfire && id === stack),
  );
  const open = guarded.filter(({ verdict }) => verdict === "left_unknown");
  const openNames = [...new Set(open.map(({ fault }) => fault))].map(
    (id) => rows.find((row) => row.id === id)?.name ?? id,
  );
  return `# The scorecard

> For choosing: what becomes of one tool call when something goes wrong, with holdfire and with what else there is.

Made by \`npm run battery\` on ${date}: holdfire ${version}, ${runtime}, ${seedsText(seeds)}, ${rows.length - 1} faults and one test without
a fault, ${cells.length} cells in ${seconds} seconds. Do not edit it; run it.

![The matrix: faults downwards, stacks across, one column for each class of service. holdfire has no cell that was done twice, lost or told
untruly; its yellow cells are calls that were left open, or not done, and told so.](images/scorecard.svg)

In the ${guarded.length} cells of holdfire whose tool is keyed, readable or conditional nothing was done twice, lost, told untruly or suppressed, and
nothing that was wanted was left undone; a run that finds anything else fails, and writes no page. ${open.length} of them are left open, and told
so: ${openNames.join("; ")}. A tool that is neither gets at most one request that could have had an effect; what became of it is
told as unknown.

## In all

Every class but the liar. A cell is one fault against one class of service; some have up to ten wishes.

${tableOf(sumsOf(matrix))}

- **Duplicates**: effects beyond those that were wanted. A copy that the network itself makes is not counted.
- **Lost**: no effect, and the caller heard that it is done; or the caller heard nothing, and no record of the stack has it.
- **Untrue words**: told as done without an effect, or as failed with one. An error that does not say that it may have happened is heard as a
  failure: this is what a model makes of it.
- **False dedupes**: wanted twice, done once, told as done twice.
- **Wanted, not done**: not there in the end, whatever was told. A stack that holds everything does not win.
- **Left unknown**: told as open, and still open when the stack has settled what it can.
- A cell waits some seconds for what is open. After a kill, Restate's next try, and the end of the ten seconds for which Powertools takes a dead call for a
  running one, can come later: such a cell is left open in one run, and done or done twice in another.
- The times are those of a busy machine: compare them with each other only.

## The stacks

Each is set up as its own documentation advises, in one short file of \`bench/battery/stacks\` in the repository. All run the same tool, which is given up after ${TIMEOUT_MS} ms, and are given
the same: the thread, the turn, and whether a repetition is wanted. Each first passes a test of a success in each class; a column that does
not is void, with the reason.

${tableOf(stacksOf(matrix))}

holdfire's lease, cooldown and deadline are shorter than their defaults, so that a cell is quick. Its tool declares what the author knows: the
key and how long it is remembered, the reader and \`commitsWithinMs: ${COMMITS_WITHIN_MS}\`, the unique name; for the liar, \`verify\`.

## How a cell is played

1. A real HTTP service starts, in a process that no stack runs in. It loses requests and replies as the fault says (\`bench/battery/faults\`),
   and logs what arrives and what takes effect.
2. The stack runs in a process of its own, and is really killed (SIGKILL) or stopped (SIGSTOP) where the fault says so. After a kill a new process
   starts on the same ledger, and the caller asks again, except where the fault is that it does not.
3. The fault ends. The stack settles what it can: \`hf.reconcile\`, or the recovery that it has.
4. The host asks once more for what was told as failed, as an agent does, and where the stack says that the same call may be made again. What was
   told as unknown it otherwise leaves alone.
5. The judge (\`bench/battery/judge.ts\`) reads the service's logs, what the callers were told, and what the stack's records say. It knows nothing of
   the stack. A cell whose fault was not met is played once more, and is void if it is missed again; a void cell is never green.

## The storm of processes

A cell is one call, or a few. \`npm run storm:processes\` is the other end: on each store twelve processes have one ledger and are asked for ten
thousand things, each of them twice. About every eighth request or reply is lost, after every hundredth answer one process is killed and another
started, and half of the calls that die with it are not asked for again. In the end the survivors reconcile, and the callers come back for what the
ledger does not have as done. The same judge looks. The run fails unless
there are ten thousand effects, none twice, none untruly told, none left open, and at most 1.35 requests have arrived for each.
${matrix.storms ? `\n${tableOf(stormsOf(matrix))}\n` : ""}
## Not built

${notBuilt.map((line) => `- ${line}`).join("\n")}

## Repeat it

\`\`\`sh
npm run battery                                # one round, in a checkout of the repository
npm run battery -- --full                      # twenty rounds, and twelve processes
npm run battery -- --stacks sqlite,dbos --faults reply_lost,kill_after_commit --html page.html
npm run battery -- --seed 7 --json
npm run storm:processes                        # ten thousand intents on SQLite, Redis and Postgres
npm run storm:processes -- --intents 1000 --stores sqlite --seed 7
\`\`\`

It needs Redis and Postgres on this machine (\`redis-server\` in the path, Postgres on its usual port, or \`DATABASE_URL\`); stacks that miss theirs are
void. \`--html\` writes one page whose cells say on hovering what happened in them.

## Next

- [Testing](testing.md): the same service, for your own tools
- [The promise](design/promise.md) and [the limits](limits.md)
- [Coming from something else](migrating.md)
`;
}

function tableOf({ head, rows }: Table): string {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((value, at) => value.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const [first = [], ...rest] = all;
  return [line(first), rule, ...rest.map(line)].join("\n");
}
