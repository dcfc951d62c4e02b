/**
 * Guards all tools of an agent of LangChain by middleware.
 *
 * The middleware puts a guarded tool in the tool's place, so that layers around it and behind it end at the
 * ledger alike. What it cannot help is a layer behind it that puts another tool in its place; it says so.
 *
 * @module
 */

import type { AgentMiddleware } from "langchain";
import type { Holdfire } from "../../api.ts";
import { peek } from "../../lang/peek.ts";
import type { CallGuarded } from "../shared/tools/guard-function.ts";
import {
  ANY_TOOL,
  checkRules,
  missingRules,
  readRules,
  type ToolRule,
  type ToolRules,
} from "../shared/tools/rules.ts";
import { guarded, guardNamed, type LangChainCall, type LangChainTool } from "./tools.ts";
import type { LangChainTurnOptions } from "./turn.ts";

export interface LangChainMiddlewareOptions extends LangChainTurnOptions {
  /**
   * The tools of the agent. Given, a missing rule and a rule that names none of them are refused at once, and
   * `hf.reconcile` can send again for a tool before the agent has called it.
   */
  readonly tools?: readonly LangChainTool[] | undefined;
}

type Why = "twice inside" | "around" | "changed" | "replaced";

const WORDS: Readonly<Record<Why, string>> = {
  "twice inside": "a layer behind it called the tool again; it was answered from the ledger",
  around: "a layer around it made one tool call again; it was answered from the ledger",
  changed: "a layer behind it changed the tool call",
  replaced:
    "a layer behind it answered without the guarded tool; if it ran another one, that was not guarded",
};

/**
 * A middleware under which every tool of the agent is guarded. Each has a rule, or `"*"` has one for all; a call of
 * a tool without a rule throws. Put it last.
 *
 * Neither `alsoDoes` nor a hidden `idempotency_key` can be shown to the model this way, as LangChain shows the
 * tools it was given; `guardTool` does both. The key is ours all the same.
 *
 * @example
 * ```ts
 * const guard = guardMiddleware(hf, { pay: { kind: "write", intent } });
 * createAgent({ model, tools: [pay], middleware: [retries, guard] });
 * ```
 */
export function guardMiddleware(
  hf: Holdfire,
  rules: Readonly<Record<string, ToolRule>>,
  options: LangChainMiddlewareOptions = {},
): AgentMiddleware {
  if (options.tools) {
    checkRules(
      rules,
      options.tools.map(({ name }) => name),
    );
  }
  const ruleOf = readRules(rules);
  const known = new Map<string, Known>();
  const get = (name: string): Known => {
    const own = ruleOf(name);
    if (!own) throw missingRules([name]);
    const found = known.get(name) ?? knownOf(name, hf, own);
    known.set(name, found);
    return found;
  };
  for (const name of Object.keys(rules)) if (name !== ANY_TOOL) get(name);
  for (const tool of options.tools ?? []) get(tool.name).see(tool);
  const say = sayOnce();
  const made = new WeakSet<object>();
  const wrapToolCall: WrapToolCall = async (request, handler) => {
    const { tool, toolCall } = request;
    if (made.has(toolCall)) say("around");
    made.add(toolCall);
    // A model made the name up, or a layer behind this one has the tool.
    if (tool === undefined) return toldIfRun(await handler(request), say);
    const { see, call, rules: own } = get(tool.name);
    see(tool);
    const counted = counting(guarded(tool, call, own, options), toolCall, say);
    const answer = await handler({ ...request, tool: counted.tool });
    return counted.calls() === 0 ? toldIfRun(answer, say) : answer;
  };
  // The brand in LangChain's type is for its own inference; nothing looks for it.
  return { name: "holdfire", wrapToolCall } as unknown as AgentMiddleware;
}

type WrapToolCall = (request: Request, handler: (request: Request) => unknown) => Promise<unknown>;

/** What a middleware is given, by structure. */
interface Request {
  readonly tool: LangChainTool | undefined;
  readonly toolCall: object;
}

interface Known {
  readonly rules: ToolRules;
  readonly call: CallGuarded<LangChainCall>;
  see(tool: LangChainTool): void;
}

function knownOf(name: string, hf: Holdfire, rules: ToolRules): Known {
  let last: LangChainTool | undefined;
  // Of several, the last one may be that of another customer.
  let isSole = true;
  const sole = () => (isSole ? last : undefined);
  return {
    rules,
    call: guardNamed(hf, name, rules, { shown: () => last, sole }),
    see(tool) {
      isSole &&= last === undefined || functionOf(last) === functionOf(tool);
      last = tool;
    },
  };
}

const functionOf = (tool: LangChainTool): unknown => peek(tool, "func") ?? tool;

/** The tool for one pass through the layers behind, and what reaches it is counted. */
function counting(tool: LangChainTool, toolCall: unknown, say: (why: Why) => void) {
  let calls = 0;
  const invoke = (input: unknown, config: unknown) => {
    calls += 1;
    if (calls === 2) say("twice inside");
    if (peek(input, "args") !== peek(toolCall, "args")) say("changed");
    return tool.invoke(input, config);
  };
  const copy: LangChainTool = Object.create(tool, { invoke: { value: invoke } });
  return { tool: copy, calls: () => calls };
}

function toldIfRun<T>(answer: T, say: (why: Why) => void): T {
  if (peek(answer, "status") !== "error") say("replaced");
  return answer;
}

function sayOnce(): (why: Why) => void {
  const said = new Set<Why>();
  return (why) => {
    if (said.has(why)) return;
    said.add(why);
    process.emitWarning(`holdfire is not the last middleware: ${WORDS[why]}.`, {
      code: "HOLDFIRE_NOT_LAST",
      detail: "Put guardMiddleware last in the array, and leave retries to it.",
    });
  };
}
