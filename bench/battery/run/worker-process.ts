/**
 * The process of a stack, with the host program in it: it opens the stack for a cell, makes calls, and can be killed.
 *
 * @module
 */

import { flushCompileCache } from "node:module";
import { lateSends } from "../late-branch.ts";
import { dieInWrite } from "../mortal-store.ts";
import type { Ask, OpenStack, Place, Tool } from "../stack.ts";
import { loadStack, type StackId } from "../stacks.ts";
import { dieAt, pass, type Spot, type WriteSpot } from "../tool-body.ts";
import { serveParent } from "./remote.ts";

// What a library prints is not the battery's output.
console.log = () => {};
console.info = () => {};
console.warn = () => {};
console.error = () => {};
// A peer whose background work fails is judged by its answers.
process.on("unhandledRejection", () => {});

const [id = "sqlite"] = process.argv.slice(2) as [StackId];
const stack = await loadStack(id);
// Usually done at the exit, which this process may not see.
flushCompileCache();
const cells = new Map<string, OpenStack>();

function openCell(cell: string): OpenStack {
  const open = cells.get(cell);
  if (!open) throw new Error(`The stack is not set up for ${cell}.`);
  return open;
}

serveParent({
  async setUp(cell: string, tool: Tool, place: Place) {
    // The first request of a process is slow for reasons of its own. Nothing depends on its answer.
    await fetch(tool.url).then(
      (response) => response.arrayBuffer(),
      () => {},
    );
    cells.set(cell, await stack.setUp(tool, place));
  },
  async call(cell: string, ask: Ask, die?: Spot | WriteSpot) {
    if (typeof die === "string") dieAt(ask.item, die);
    else if (die) dieInWrite(die);
    const answer = await openCell(cell).call(ask);
    pass(ask.item, "before_told");
    // When it was known here: the battery hears of it later.
    return { ...answer, at: Date.now() };
  },
  reconcile(cell: string, die?: WriteSpot) {
    if (die) dieInWrite(die);
    return openCell(cell).reconcile();
  },
  lateSends,
  standing: (cell: string, ask: Ask) => openCell(cell).standing(ask),
  standings: (cell: string) => openCell(cell).standings?.(),
  async close(cell: string) {
    await cells.get(cell)?.close();
    cells.delete(cell);
  },
});
