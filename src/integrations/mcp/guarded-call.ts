/**
 * `callTool` under the guard: listed → treated → called → told.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holdfire } from "../../api.ts";
import {
  McpNotSentError,
  McpTurnedAwayError,
  verdictOfMcp,
  verdictOfMcpRead,
} from "../../classify/mcp.ts";
import { type GuardedTool, guard } from "../../engine/call/guarded-tool.ts";
import { ADAPTER_DEADLINE_MS } from "../../engine/define/define-tool.ts";
import { type Tool, toolOf } from "../../engine/define/tool.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { errorOf } from "../../engine/outcome/error-of.ts";
import { replyOf } from "../../engine/outcome/reply.ts";
import { checkerOf } from "../../engine/outcome/words.ts";
import { InvalidInputError } from "../../errors.ts";
import type { Json } from "../../key/json.ts";
import { addBounded } from "../../lang/bounded.ts";
import { peek } from "../../lang/peek.ts";
import { missingRules } from "../shared/tools/rules.ts";
import { inTurn } from "../shared/tools/turn.ts";
import { aboutCall, withoutKeys } from "./about-call.ts";
import { definitionOf, type Known, type Listing } from "./listing.ts";
import { type McpGuardOptions, type McpRules, type Treatment, treatmentOf } from "./options.ts";
import { resultOf } from "./result.ts";
import {
  argumentsOf,
  type McpArguments,
  type McpCall,
  type McpClient,
  type McpTool,
  serverNameOf,
} from "./sdk.ts";
import { isUnsent, type Sending, send } from "./send.ts";

/** One send that could have arrived is all that most tools get, so it may take its time. */
const ATTEMPT_MS = 40_000;
const LATE_MS = 300_000;
const READ_ATTEMPTS = 4;
const MAX_UNREACHED = 1_000;
const NOT_SENT: Treatment = { kind: "write", repeatable: false };
const LINE = "Pass { scope: … } or { thread: …, messages: … } to guardMcpClient,";

export type CallTool = (...args: unknown[]) => Promise<unknown>;

export function guardedCallTool(
  client: McpClient,
  hf: Holdfire,
  listing: Listing,
  rules: McpRules,
  options: McpGuardOptions,
): CallTool {
  const { trust = [], lateMs = LATE_MS } = options;
  /** What a call brings with it that is no part of its arguments. */
  const current = new AsyncLocalStorage<Sending>();
  const registered = new Map<string, Tool>();
  /** Operations whose last call reached no tool, for a reason that the next one may have mended. */
  const unreached = new Set<string>();

  const serverOf = () => options.server ?? serverNameOf(client);

  /** Each tool is made known once; how it is treated may change from call to call. */
  function register(name: string): Tool {
    const server = serverOf();
    if (server === undefined) {
      const rule = "must name the server: it has not said its name.";
      throw new InvalidInputError("options.server", rule);
    }
    const fullName = fullNameOf(name, server);
    const known = registered.get(fullName);
    if (known) return known;
    const { isErrorMeans = options.isErrorMeans, changed, again: _, ...own } = rules.of(name);
    const made = hf.tool<Json, unknown>({
      service: server,
      deadlineMs: ADAPTER_DEADLINE_MS,
      attemptTimeoutMs: ATTEMPT_MS,
      ...own,
      name: fullName,
      kind: "write",
      run: async (args, context) => {
        const asked = current.getStore();
        if (asked?.isRead) return send(asked, args, context);
        // A person may have taken their time, and this may be a resend.
        const known = await listing.find(name);
        const isOther = asked ? asked.digest !== known.digest : known.changed;
        if (isOther && !known.failed && changed !== "allow") {
          throw new McpNotSentError("the tool's definition has changed since it was called");
        }
        const given = { params: { name }, resultSchema: undefined, options: {} };
        const sending = asked ?? { client, given, lateMs, ...known };
        return send({ ...sending, failed: sending.failed ?? known.failed }, args, context);
      },
      classify: (error) => own.classify?.(error) ?? verdictOfMcp(error, isErrorMeans),
    });
    const tool = toolOf(made) as Tool;
    registered.set(fullName, tool);
    return tool;
  }

  /** `undefined`: there is no rule for it, and it does not say itself whether it writes. */
  function treatmentFor(name: string, known: Partial<Known>): Treatment | undefined {
    const own = rules.own(name);
    const treatment = treatmentOf({
      tool: known.tool,
      declared: own?.kind,
      otherwise: rules.others?.kind,
      trusted: trust.includes(serverNameOf(client) ?? ""),
      changed: known.changed === true && rules.of(name).changed !== "allow",
    });
    // It will not be sent: no person need be asked about it.
    if (known.unlisted && treatment?.kind !== "read") return NOT_SENT;
    return treatment ?? (known.failed && NOT_SENT);
  }

  /** The tool as this call treats it. */
  function treated(name: string, treatment: Treatment, timeout: number | undefined) {
    const { kind, repeatable, passes } = treatment;
    const tool = register(name);
    const { attempts, attemptTimeoutMs, classify } = rules.of(name);
    const isRead = kind === "read";
    // A definition that cannot be compared is never that of another call.
    const call = crypto.randomUUID();
    return guard<unknown, unknown>(
      {
        ...tool,
        kind,
        definition: async () => definitionOf(await listing.findNow(name), call),
        conditional: tool.conditional || repeatable,
        attempts: isRead ? (passes ? 1 : (attempts ?? READ_ATTEMPTS)) : tool.attempts,
        attemptTimeoutMs: attemptTimeoutMs ?? timeout ?? tool.attemptTimeoutMs,
        classify: isRead ? (classify ?? verdictOfMcpRead) : tool.classify,
      },
      engineOf(hf),
    );
  }

  return async (...args) => {
    const given = argumentsOf(client, args);
    const { params } = given;
    const { name } = params;
    const own = rules.of(name);
    const toolName = fullNameOf(name, serverOf());
    const call = args[0] as McpCall;
    const asked = aboutCall({ call, params, toolName, options, again: own.again });
    const found = await listing.find(name);
    const known = found.unlisted ? await listing.findNow(name) : found;
    const treatment = treatmentFor(name, known);
    if (!treatment) {
      const others = listing.all().filter((tool) => !treatmentFor(tool.name, { tool }));
      const missing = new Set([name, ...others.map((tool) => tool.name)]);
      throw missingRules([...missing], "options.tools");
    }
    const { timeout, signal } = given.options;
    const sending: Sending = { client, given, lateMs, ...known };
    const tool = treated(name, treatment, timeout);
    if (treatment.kind === "read") return read(sending, tool);

    checkSimple(given, known.tool);
    const intent = withoutKeys(params.arguments, known.tool);
    const { turn, aliases, again } = await asked;
    // The protocol does not tell which calls are of one response.
    const step = crypto.randomUUID();
    const callOnce = (retry?: string) =>
      inTurn(turn, { tool: tool.toolName, line: LINE }, (scope) =>
        current.run(sending, () =>
          tool.outcome(intent, {
            scope,
            signal,
            aliases,
            deadlineMs: timeout ?? own.deadlineMs,
            retry,
            again,
            step,
          }),
        ),
      );
    const first = await callOnce();
    // Whoever calls again after a login, or with arguments that fit, wants it tried again.
    const outcome = unreached.delete(first.id) ? await callOnce("called again") : first;
    const error = "error" in outcome ? outcome.error : undefined;
    const isTurnedAway = error instanceof McpTurnedAwayError;
    if (outcome.status === "not_applied" && (isTurnedAway || isUnsent(error))) {
      addBounded(unreached, outcome.id, MAX_UNREACHED);
      // As the client would have thrown it: that is how a program learns that it must log in.
      if (isTurnedAway) throw error.cause;
    }
    const told = replyOf(outcome, checkerOf(tool.toolName, engineOf(hf)));
    // Why it was not sent is what a model needs to do better.
    const reply = error instanceof McpNotSentError ? { ...told, message: error.message } : told;
    return resultOf(outcome, reply, options.reply ?? "envelope");
  };

  /** A read's result is the tool's own, and so is its error. */
  async function read(sending: Sending, tool: GuardedTool<unknown, unknown>): Promise<unknown> {
    const { params, options: asked } = sending.given;
    const args = withoutKeys(params.arguments, sending.tool);
    const { signal, timeout: deadlineMs } = asked;
    const outcome = await current.run({ ...sending, isRead: true }, () =>
      tool.outcome(args, { signal, deadlineMs }),
    );
    if (outcome.status === "committed") return outcome.result;
    const error = "error" in outcome ? outcome.error : undefined;
    throw (error instanceof McpNotSentError ? error.cause : error) ?? error ?? errorOf(outcome);
  }
}

const fullNameOf = (name: string, server = "") => `${server.replaceAll("#", "%23")}#${name}`;

/** What would let one call come back before the tool is done. */
function checkSimple({ options, params }: McpArguments, tool: McpTool | undefined): void {
  if (peek(peek(tool, "execution"), "taskSupport") === "required") {
    throw new InvalidInputError(params.name, "cannot be guarded: it only runs as a task.");
  }
  if (options.task !== undefined) {
    throw new InvalidInputError("options.task", "cannot be guarded: the result comes elsewhere.");
  }
  if (options.allowInputRequired === true) {
    const rule = "cannot be guarded: leave the rounds to the client (inputRequired.autoFulfill).";
    throw new InvalidInputError("options.allowInputRequired", rule);
  }
}
