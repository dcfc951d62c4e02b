/**
 * What `holdfire init` writes: the config, and a program. Of a framework that is one of `examples/`; else one without a
 * framework, or one for MCP with a server that needs no account.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { ownFile } from "../own-files.ts";

/** A text that stands two spaces from the margin, to tell its imports from those of this file. */
const program = (text: string): string => text.trimStart().replaceAll(/^ {2}/gm, "");

const createdFor = (app: string): string =>
  program(`
  import { createHoldfire } from "holdfire";
  import { defineConfig } from "holdfire/config";

  /**
   * Remembers in .holdfire/ledger.db. The rest of the program imports it from here. \`app\` is part of every key: give
   * each program a name of its own, and leave it as it is once the program has run.
   */
  export const hf = createHoldfire({ app: ${JSON.stringify(app)} });
`);

/** `hf`, and what the command line reads: the argument of `defineConfig`. */
const configOf = (app: string, comment: string, argument: string): string =>
  `${createdFor(app)}\n/** What npx holdfire reads. ${comment} */\nexport default defineConfig(${argument});\n`;

/** Adapters make the tools of frameworks, so there is none to list. */
export const frameworkConfig = (_ending: Ending, app: string): string =>
  configOf(app, "Tools that you make by hf.tool() go into the list.", "{ hf, tools: [] }");

export const plainConfig = (ending: Ending, app: string): string =>
  configOf(
    app,
    "A function, so that the files of tools can import hf from here.",
    `async () => {
  const { payOut } = await import("./holdfire.example.${ending}");
  return { hf, tools: [payOut] };
}`,
  );

/** A function of your own, whose reply is lost. */
export function plainProgram(ending: Ending): string {
  const config = `./holdfire.config.${ending}`;
  return program(`
  import { absent, committed } from "holdfire";
  import { hf } from "${config}";

  interface Payout {
    readonly id: string;
    readonly payee: string;
    readonly cents: number;
  }

  /** A stand-in for your service: it pays, and its reply is lost. */
  const paid = new Map<string, Payout>();
  const bank = {
    async pay(payout: { payee: string; cents: number }, reference: string): Promise<Payout> {
      paid.set(reference, { id: crypto.randomUUID(), ...payout });
      throw new Error("The connection was reset.");
    },
    async find(reference: string): Promise<Payout | undefined> {
      return paid.get(reference);
    },
  };

  /** The key goes to the service, and is what the reader searches for. */
  export const payOut = hf.tool({
    name: "pay_out",
    kind: "write",
    run: (payout: { payee: string; cents: number }, { key }) => bank.pay(payout, key),
    readState: async ({ key }) => {
      const found = await bank.find(key);
      return found ? committed(found, { effectId: found.id }) : absent();
    },
    // Your service commits within this time after a request has ended, or never: only then is an absence believed.
    commitsWithinMs: 30_000,
  });

  /** Run it twice: it is the same scope, so the second run is answered from the ledger. */
  if (import.meta.main) {
    const outcome = await payOut.outcome({ payee: "ana", cents: 4000 }, { scope: "example/1" });
    const sent = outcome.replayed ? "nothing was sent now" : "sent once, found by reading";
    console.log(outcome.status + ": " + sent + ", payouts made by this run: " + paid.size);
    await hf.close();
  }
`);
}

/** `client` and `stdio`: where the version of the SDK has its client and its transport. */
export function mcpProgram(client: string, stdio: string, ending: Ending): string {
  const config = `./holdfire.config.${ending}`;
  return program(`
  import { Client } from "${client}";
  import { StdioClientTransport } from "${stdio}";
  import { guardMcpClient } from "holdfire/mcp";
  import { hf } from "${config}";

  const client = new Client({ name: "example", version: "1.0.0" });

  /** The same client; its tool calls are guarded. Use only this one. */
  export const mcp = guardMcpClient(client, hf, {
    server: "memory",
    tools: { create_entities: { kind: "write" }, read_graph: { kind: "read" } },
  });

  /** Run it twice: it is the same scope, so the second run is answered from the ledger. */
  if (import.meta.main) {
    const args = ["-y", "@modelcontextprotocol/server-memory"];
    await client.connect(new StdioClientTransport({ command: "npx", args }));
    const entity = { name: "Ana", entityType: "payee", observations: ["is owed 40 euros"] };
    const result = await hf.scope("example/1", () =>
      mcp.callTool({ name: "create_entities", arguments: { entities: [entity] } }),
    );
    console.log(JSON.stringify(result.content, undefined, 2));
    await client.close();
    await hf.close();
  }
`);
}

/** `mts` where the project's package.json does not say that its files are ES modules. */
export type Ending = "ts" | "mts";

/** What the header says is about the example; the bank of the examples runs on their machine only. */
const HEADER = /^\/\*\*[\s\S]*?\*\/\n\n/;
const BANK_IMPORT = /^import .* from "\.\/bank\.ts";\n/m;
const CONFIG_IMPORT = /from "\.\/holdfire\.config\.ts";\n/;

const STAND_IN = `
interface Payout {
  readonly payee: string;
  readonly cents: number;
}

interface Paid extends Payout {
  readonly id: string;
}

/** A stand-in for your service. It remembers the key of a payout, and finds the payout by it. */
const paid = new Map<string, Paid>();
const bank = {
  async pay(payout: Payout, { key }: { readonly key: string }): Promise<Paid> {
    const done = { id: crypto.randomUUID(), ...payout };
    paid.set(key, done);
    return done;
  },
  find: async (key: string): Promise<readonly Paid[]> => [paid.get(key) ?? []].flat(),
  balance: async () => ({ cents: 1000_00 }),
  /** Where your client refreshes its OAuth token. */
  tokens: "https://login.bank.example",
};
`;

/** A program of `examples/`, with a stand-in for the bank that needs no account. */
export function exampleProgram(name: string, ending: Ending): string {
  const text = readFileSync(ownFile(`examples/${name}.ts`), "utf8");
  return text
    .replace(HEADER, "")
    .replace(BANK_IMPORT, "")
    .replace(CONFIG_IMPORT, () => `from "./holdfire.config.${ending}";\n${STAND_IN}`);
}
