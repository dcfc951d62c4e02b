/**
 * A process that runs a program behind a shell, and ends as it is told to.
 *
 *   parent.ts PROGRAM PORT FILE exit|throw|wait
 *
 * @module
 */

import { commandTool } from "../../../src/integrations/command/index.ts";
import { behindShell } from "./behind-shell.ts";

const [program = "", port = "", file = "", how] = process.argv.slice(2);
const { run } = commandTool<object>(behindShell([program, port, file]));
run(
  {},
  {
    key: "k",
    precondition: undefined,
    fetch: globalThis.fetch,
    attempt: 1,
    signal: new AbortController().signal,
  },
).catch(() => {});
// The test says when: by then the program is there.
process.stdin.once("data", () => {
  if (how === "exit") process.exit(0);
  if (how === "throw") throw new Error("thrown by the parent");
});
