/**
 * `holdfire chaos`: runs any agent without faults and then with a broken reply, and tells what it sent twice, and
 * which layer did it.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { nameOf } from "../../chaos/judge/compare-runs.ts";
import { FAULTS, type Fault, faultOf } from "../../chaos/orders.ts";
import { seeded } from "../../gateway/break-answers.ts";
import { type Command, defineCommand, EXIT, UsageError } from "../command.ts";
import { durationOf, wholeNumberOf } from "../parse.ts";
import { jsonText, visible } from "../terminal.ts";
import { printReport } from "./print.ts";
import { reportOf, type Tried } from "./report.ts";
import { type AgentRun, runAgent } from "./run-agent.ts";

const OPTIONS = {
  match: {
    type: "string",
    multiple: true,
    value: "PATTERN",
    about: "Which requests are writes. Default: unsafe methods, models apart.",
  },
  ignore: { type: "string", multiple: true, value: "PATTERN", about: "Which are none." },
  fault: {
    type: "string",
    multiple: true,
    value: "NAME",
    about: `${FAULTS.join(", ")}. Default reset.`,
  },
  nth: { type: "string", value: "N", about: "Breaks the reply to this write only." },
  runs: { type: "string", value: "N", about: "The most runs with a fault. Default 5." },
  seed: { type: "string", value: "N", about: "Draws the writes at random, and repeats a draw." },
  slow: { type: "string", value: "70s", about: "How late a slow reply is. Default 70s." },
  "model-host": {
    type: "string",
    multiple: true,
    value: "HOST",
    about: "A host of models that is not known as one.",
  },
  timeout: { type: "string", value: "6m", about: "How long one run may take. Default 6m." },
  quiet: { type: "boolean", about: "Does not show the agent's own output." },
} as const;

export const chaos: Command = defineCommand({
  name: "chaos",
  summary: "Breaks replies of your agent on purpose, and tells what it sends twice.",
  takes: [],
  rest: "AGENT ARGS...",
  about: [
    "Runs your agent once as it is, then once for each kind of write that it has sent, with the reply broken after it arrived: the service has done the work, and the agent does not know. Then it prints which writes went out twice, by which layer (SDK, framework, model, a loop outside, a new process) and which line to change. The agent need not use holdfire.",
    "The agent really runs, and really sends: use test accounts. Nothing else leaves this machine, and no body is kept.",
    'A pattern is a method, an address, a path, a host or the name of an MCP tool: "POST https://api.example.com/payouts", "/v1/*", api.example.com.',
    "Ends with 0 if nothing was sent twice, 1 if something was, 2 if a reply could not be broken, or if --timeout stopped a run before the agent had gone on.",
  ],
  options: OPTIONS,
  async run({ values, rest }, terminal) {
    if (rest.length === 0) {
      throw new UsageError(
        "The agent's command is missing.",
        "Write: holdfire chaos [OPTIONS] -- AGENT ARGS...",
      );
    }
    const faults = faultsOf(values.fault);
    const nth = wholeNumberOf("nth", values.nth);
    const most = wholeNumberOf("runs", values.runs, { max: 100 }) ?? 5;
    const seed = wholeNumberOf("seed", values.seed, { min: 0 });
    const orders = {
      salt: randomBytes(16).toString("base64url"),
      match: values.match,
      ignore: values.ignore,
      modelHosts: values["model-host"],
      slowMs: durationOf("slow", values.slow) ?? 70_000,
    };
    const timeoutMs = durationOf("timeout", values.timeout) ?? 360_000; // longer than the 5 minutes that Node's fetch waits for a reply
    const agent = { command: rest, isQuiet: values.quiet, timeoutMs };
    const say = (line: string) => terminal.err(`holdfire chaos: ${line}`);

    say("running without faults");
    const base = await runAgent(agent, { ...orders, nth: 0 }, terminal);
    const all = faults.flatMap((fault) =>
      pickWrites(base, nth, seed).map((write) => ({ fault, ...write })),
    );
    const planned = all.slice(0, most);
    if (planned.length < all.length) {
      say(`${all.length - planned.length} more replies could be broken: --runs ${all.length}`);
    }
    const tried: Tried[] = [];
    for (const plan of planned) {
      if (terminal.signal.aborted) break;
      const { fault, write } = plan;
      say(`running with ${fault}, ${tried.length + 1} of ${planned.length}: ${visible(write)}`);
      const run = await runAgent(agent, { ...orders, fault, nth: plan.nth }, terminal);
      tried.push({ ...plan, run });
    }
    if (terminal.signal.aborted) {
      say("stopped before all runs were made; nothing is shown");
      return EXIT.usage;
    }
    const report = reportOf(base, tried, { cwd: terminal.cwd, seed });
    if (values.json) terminal.out(jsonText(report));
    else printReport(report, terminal);
    return report.exitCode;
  },
});

function faultsOf(given: readonly string[]): readonly Fault[] {
  if (given.length === 0) return ["reset"];
  return given.map((text) => {
    const fault = faultOf(text);
    if (fault) return fault;
    throw new UsageError(`--fault must be one of ${FAULTS.join(", ")}, got "${visible(text)}".`);
  });
}

interface Picked {
  readonly nth: number;
  readonly write: string;
}

/** The first of each kind; with a seed all, in an order that it draws. */
function pickWrites(
  base: AgentRun,
  nth: number | undefined,
  seed: number | undefined,
): readonly Picked[] {
  const writes = base.sends.flatMap((send) =>
    send.write === undefined ? [] : [{ nth: send.write, write: nameOf(send) }],
  );
  if (nth !== undefined) {
    return [writes.find((one) => one.nth === nth) ?? { nth, write: "not sent without faults" }];
  }
  if (seed !== undefined) {
    const random = seeded(seed);
    const drawn = writes.map((one) => ({ one, order: random() }));
    return drawn.sort((a, b) => a.order - b.order).map(({ one }) => one);
  }
  const names = writes.map(({ write }) => write);
  return writes.filter(({ write }, index) => names.indexOf(write) === index);
}
