/**
 * A ledger on disk with one operation of each kind that a person may meet in it.
 *
 * @module
 */

import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { type TestTerminal, testTerminal } from "./test-terminal.ts";

/** Looks harmless where it is printed as it is. */
export const HIDDEN = "report\u202egpj.exe\u200b";

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  readonly terminal: TestTerminal;
}

export interface LedgerWorld {
  readonly folder: string;
  readonly path: string;
  /** What was dropped. */
  readonly dropped: unknown[];
  /** A holdfire of the user's own program; close it before the commands look. */
  open(): { readonly hf: Holdfire; readonly tools: Tools };
  /** One operation of each kind, by its kind. */
  fill(): Promise<Record<"committed" | "unknown" | "held" | "rejected", Outcome<unknown>>>;
  run(argv: readonly string[], terminal?: Partial<Terminal>): Promise<Ran>;
}

export interface Tools {
  readonly pay: GuardedTool<{ to: string }, { id: string }>;
  /** Its reply never comes. */
  readonly lose: GuardedTool<{ to: string }, never>;
  readonly reject: GuardedTool<object, never>;
  readonly drop: GuardedTool<{ bucket: string }, string>;
}

function toolsOf(hf: Holdfire, dropped: unknown[]): Tools {
  const keyed = { forMs: 60_000 };
  return {
    pay: hf.tool({
      ...{ name: "pay", kind: "write", keyed, effect: { type: () => "created" as const } },
      run: async (args: { to: string }, { key }) => ({ id: key, ...args }),
    }),
    lose: hf.tool({
      ...{ name: "lose_reply", kind: "write", attempts: 1 },
      run: (_: { to: string }) => Promise.reject(new Error("reset")),
    }),
    reject: hf.tool({
      ...{ name: "reject", kind: "write", classify: () => "rejected" as const },
      run: (_: object) => Promise.reject(new Error("no")),
    }),
    drop: hf.tool({
      name: "drop_bucket",
      kind: "destructive",
      keyed,
      alsoDoes: ["e-mails the owner"],
      plan: ({ bucket }) => ({
        changes: [
          {
            type: "update",
            target: `bucket/${bucket}`,
            before: { files: 3, owner: "ana" },
            after: { files: 0, owner: "ana" },
          },
          { type: "delete", target: HIDDEN },
        ],
      }),
      run: async (args: { bucket: string }, { key }) => {
        dropped.push({ ...args, key });
        return "dropped";
      },
    }),
  };
}

export function ledgerWorld(folder: string): LedgerWorld {
  const path = join(folder, "ledger.db");
  const dropped: unknown[] = [];
  const open = () => {
    const hf = createHoldfire({ store: sqliteStore({ path }) });
    return { hf, tools: toolsOf(hf, dropped) };
  };
  return {
    folder,
    path,
    dropped,
    open,
    async fill() {
      const { hf, tools } = open();
      const options = { scope: "chat-1", aliases: ["call_0123456789abcdef"] };
      const committed = await tools.pay.outcome({ to: "bob" }, options);
      await tools.pay.outcome({ to: "bob" }, { scope: "chat-1", aliases: ["call_fedcba"] });
      const unknown = await tools.lose.outcome({ to: "eve" }, { scope: "chat-2" });
      const rejected = await tools.reject.outcome({}, { scope: "chat-3" });
      const held = await tools.drop.outcome({ bucket: "logs" }, { scope: "chat-4" });
      await hf.close();
      return { committed, unknown, rejected, held };
    },
    async run(argv, given = {}) {
      const terminal = testTerminal({ cwd: folder, now: Date.now, ...given });
      const exitCode = await runCommandLine([...argv, "--store", path], COMMANDS, terminal);
      return { exitCode, out: terminal.printed(), err: terminal.complained(), terminal };
    },
  };
}
