/**
 * The small apps, each through a bad day: what the service received, and what the model was told. The table in
 * `docs/frameworks.md` is what this prints.
 *
 * @module
 */

import { faults, readFaults } from "../../src/testing/faulty-service.ts";
import { findTable, markdownOf } from "../../test/table-in-page.ts";
import { type App, type AppStage, type Request, type Seen, watchApp } from "./app-stage.ts";
import { PAY, WORDS } from "./stage.ts";

interface Day {
  readonly title: string;
  readonly sent: number;
  readonly paid: number;
  /** What the model must be told. */
  readonly told: readonly string[];
  /** The same, where a person has to approve: the first call of each request is held. */
  readonly toldIfAsked: readonly string[];
  play(stage: AppStage): Promise<void>;
}

const APPS: readonly App[] = [
  { title: "AI SDK", name: "ai" },
  { title: "OpenAI, tool loop", name: "openai" },
  { title: "Anthropic, tool runner, streamed", name: "anthropic" },
  { title: "LangChain, with a checkpointer", name: "langchain" },
  { title: "OpenAI Agents", name: "openai-agents" },
  { title: "MCP, approved by `holdfire approve`", name: "mcp", asks: true },
];

const ONCE: Request = { said: [WORDS], says: [PAY] };
const ONCE_MORE: Request = { said: [WORDS, WORDS], says: [PAY] };
/** Told that the outcome is unknown, the model asks for the same in other words: another intent. */
const REWORDED: Request = {
  said: [WORDS],
  says: [PAY, { tool: "pay", args: { payee: "Ana Ruiz", cents: 400 } }],
};

const DAYS: readonly Day[] = [
  {
    title: "The reply is lost",
    sent: 1,
    paid: 1,
    told: ["committed"],
    toldIfAsked: ["held", "committed"],
    play({ service, run }) {
      service.plan(faults.commitThenReset());
      return run(ONCE);
    },
  },
  {
    title: "Killed after the effect, started again",
    sent: 1,
    paid: 1,
    told: ["committed"],
    toldIfAsked: ["held", "committed"],
    async play({ service, run, kill }) {
      service.plan(faults.blackHole({ commit: true }));
      await kill(ONCE);
      await run(ONCE);
    },
  },
  {
    title: "A person asks again",
    sent: 2,
    paid: 2,
    told: ["committed", "committed"],
    toldIfAsked: ["held", "committed", "held", "committed"],
    play: ({ run }) => run(ONCE, ONCE_MORE),
  },
  {
    title: "Lost, cannot be read, the model words it anew",
    sent: 1,
    paid: 1,
    told: ["unknown", "held"],
    toldIfAsked: ["held", "unknown", "held"],
    play({ service, run }) {
      service.plan(faults.commitThenReset());
      service.alwaysRead(readFaults.status({ status: 503 }));
      return run(REWORDED);
    },
  },
  {
    title: "The bank says no (402)",
    sent: 1,
    paid: 0,
    told: ["not_applied"],
    // The server makes an error result of it, which may also be that of a lost reply.
    toldIfAsked: ["held", "unknown"],
    play({ service, run }) {
      service.plan(faults.status({ status: 402 }));
      return run(ONCE);
    },
  },
];

interface Cell {
  readonly text: string;
  /** What is wrong with it. */
  readonly problem?: string | undefined;
}

async function play(app: App, day: Day): Promise<Cell> {
  try {
    const seen = await watchApp(app, day.play);
    return {
      text: show(seen),
      problem: problemOf(seen, { ...day, told: app.asks ? day.toldIfAsked : day.told }),
    };
  } catch (error) {
    return { text: "failed", problem: String(error) };
  }
}

function show({ sent, paid, told }: Pick<Seen, "sent" | "paid" | "told">): string {
  return `${sent} sent, ${paid} paid: ${told.map((outcome) => `\`${outcome}\``).join(", ")}`;
}

function problemOf(seen: Seen, expected: Pick<Seen, "sent" | "paid" | "told">): string | undefined {
  if (show(seen) !== show(expected)) return `${show(expected)} expected`;
  if (seen.tokens !== seen.sent) return `${seen.tokens} tokens refreshed for ${seen.sent} payouts`;
  const traced = seen.traced.join();
  if (traced !== seen.told.join()) return `the spans say ${traced || "nothing"}`;
  return seen.complained === "" ? undefined : `stderr: ${seen.complained}`;
}

const PLACE = {
  name: "apps",
  command: "npm run frameworks -- --apps --write",
  page: "docs/frameworks.md",
};

/** Plays all, prints the table, and compares it with the page or writes it there. Whether all is as it must be. */
export async function runApps(options: { readonly write: boolean }): Promise<boolean> {
  const rows = [["App", ...DAYS.map(({ title }) => title)]];
  const problems: string[] = [];
  for (const app of APPS) {
    const cells: string[] = [];
    for (const day of DAYS) {
      const { text, problem } = await play(app, day);
      cells.push(text);
      if (problem) problems.push(`${app.title}, ${day.title}: ${text}; ${problem}`);
    }
    rows.push([`[${app.title}](../examples/${app.name}.ts)`, ...cells]);
    process.stderr.write(`${app.title}\n`);
  }
  const table = markdownOf(rows);
  console.log(table);
  const place = findTable(PLACE);
  if (options.write && problems.length === 0) place.write(table);
  else if (place.text !== table) problems.push("docs/frameworks.md has another table.");
  for (const problem of problems) console.log(problem);
  return problems.length === 0;
}
