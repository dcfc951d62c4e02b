import { expect, test } from "vitest";
import { PLAIN_ACTS, PROMISED } from "../../src/cli/demo/acts.ts";
import { demo, showDemo } from "../../src/cli/demo/command.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { testTerminal } from "./test-terminal.ts";

async function run(argv: readonly string[], given: Partial<Terminal> = {}) {
  const terminal = testTerminal(given);
  const exitCode = await runCommandLine(["demo", ...argv], [demo], terminal);
  return { exitCode, out: terminal.printed() };
}

test("two payouts, one payout by a read, and one that is held and asked about", async () => {
  const { exitCode, out } = await run([]);
  expect(exitCode).toBe(0);
  expect(out.match(/payouts: \d/g)).toEqual(["payouts: 2", "payouts: 1", "payouts: 1"]);
  // A pipe gets plain lines.
  expect(out).not.toContain("\u001b");
});

test("the wire, the ledger and the money stand in the order in which things happened", async () => {
  const [, , guarded = "", blind = ""] = (await run([])).out.split(/^\d\. .*$/m);
  const inOrder = (text: string) =>
    text
      .trim()
      .split("\n")
      .slice(1)
      .map((line) =>
        line
          .trim()
          .replaceAll(/[0-9a-f]{8}/g, "KEY")
          .replaceAll(/ {2,}/g, " | "),
      );
  expect(inOrder(guarded)).toEqual([
    "claimed, attempt 1 fires",
    "POST key KEY | paid, reply lost | 40.00",
    "attempt ended: unknown",
    "GET | key KEY | it is there | 40.00",
    "state read: committed",
    "committed, known by read",
    "payouts: 1 (40.00), requests to pay: 1, reads: 1, outcome: done",
  ]);
  expect(inOrder(blind)).toEqual([
    "claimed, attempt 1 fires",
    "POST no key | paid, reply lost | 40.00",
    "attempt ended: unknown",
    "unknown (lost_reply), held",
    "told: The reply was lost. It may have happened. Do not call again; a person must check.",
    "caller: calls again all the same",
    "unknown, nothing sent",
    "asked: Did pay_out_by_fax KEY happen? Nothing can read it.",
    "person: I checked the bank's records. It did.",
    "committed, by ben",
    "caller: calls once more",
    "committed, nothing sent",
    "payouts: 1 (40.00), requests to pay: 1, reads: 0, outcome: unknown, then done",
  ]);
});

test("a terminal gets colours, and the person may stop waiting", async () => {
  // Fired already, so that nothing waits here.
  const { exitCode, out } = await run([], { isTTY: true, signal: AbortSignal.abort() });
  expect(exitCode).toBe(0);
  expect(out).toContain("\u001b[31mpayouts: 2");
  expect(out).toContain("\u001b[32mpayouts: 1");
});

test("--json tells programs the same", async () => {
  const { exitCode, out } = await run(["--json"]);
  expect(exitCode).toBe(0);
  const { acts } = JSON.parse(out);
  expect(acts.map(({ ending }: { ending: object }) => ending)).toEqual([
    PROMISED.alone,
    PROMISED.guarded,
    PROMISED.blind,
  ]);
});

test("an act that ends otherwise than promised is told, and is a failure", async () => {
  const [alone] = PLAIN_ACTS;
  if (!alone) throw new Error("there are no acts");
  const lines: string[] = [];
  const asPromised = await showDemo("", [{ ...alone, promised: PROMISED.guarded }], {
    out: (line) => lines.push(line),
    paint: (_, text) => text,
    pause: async () => {},
  });
  expect(asPromised).toBe(false);
  expect(lines.at(-1)).toMatch(/^ {2}Promised: payouts: 1 .*This is not how it ends\.$/);
});
