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
import type { Tool } from "../../engine/define/tool.ts";
import { toolOf } from "../../engine/define/tool.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { errorOf } from "../../engine/operation/outcome.ts";
import { replyOf } from "../../engine/outcome/reply.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { aliasesOf } from "../shared/tools/guard-tool.ts";
import { withoutKey } from "../shared/tools/hidden-key.ts";
import { keyNamesOf, withoutMadeUp } from "../shared/tools/made-up-key.ts";
import { fromContext, inTurn } from "../shared/tools/turn.ts";
import { definitionOf, type Listing } from "./listing.ts";
import { type McpGuardOptions, type Treatment, treatmentOf } from "./options.ts";
import { resultOf } from "./result.ts";
import {
  argumentsOf,
  type McpArguments,
  type McpClient,
  type McpTool,
  serverNameOf,
} from "./sdk.ts";
import { type Sending, send } from "./send.ts";

const DEADLINE_MS = 45_000;
/** One send that could have arrived is all that most tools get, so it may take its time. */
const ATTEMPT_MS = 40_000;
const LATE_MS = 300_000;
const READ_ATTEMPTS = 4;
const MAX_TURNED_AWAY = 1_000;
const LINE = "Pass { scope: … } or { thread: …, messages: … } to guardMcpClient,";

export type CallTool = (...args: unknown[]) => Promise<unknown>;

export function guardedCallTool(
  client: McpClient,
  hf: Holdfire,
  listing: Listing,
  options: McpGuardOptions,
): CallTool {
  const { tools = {}, trust = [], unannotated = "write", lateMs = LATE_MS } = options;
  /** What a call brings with it that is no part of its arguments. */
  const current = new AsyncLocalStorage<Sending>();
  const registered = new Map<string, Tool>();
  /** Operations that the server turned away for want of an authorization. */
  const turnedAway = new Set<string>();

  const rulesFor = (name: string) => (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? {};

  /** Each tool is made known once; how it is treated may change from call to call. */
  function register(name: string): Tool {
    const server = options.server ?? serverNameOf(client);
    if (server === undefined) {
      const rule = "must name the server: it has not said its name.";
      throw new InvalidInputError("options.server", rule);
    }
    const fullName = `${server.replaceAll("#", "%23")}#${name}`;
    const known = registered.get(fullName);
    if (known) return known;
    const { isErrorMeans = options.isErrorMeans, changed, ...rules } = rulesFor(name);
    const made: GuardedTool<unknown, unknown> = hf.tool<unknown, unknown>({
      service: server,
      deadlineMs: DEADLINE_MS,
      attemptTimeoutMs: ATTEMPT_MS,
      ...rules,
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
      classify: (error) => rules.classify?.(error) ?? verdictOfMcp(error, isErrorMeans),
    });
    const tool = toolOf(made) as Tool;
    registered.set(fullName, tool);
    return tool;
  }

  /** The tool as this call treats it. */
  function treated(name: string, { kind, repeatable }: Treatment, timeout: number | undefined) {
    const tool = register(name);
    const rules = rulesFor(name);
    const isRead = kind === "read";
    // A definition that cannot be compared is never that of another call.
    const call = crypto.randomUUID();
    return guard<unknown, unknown>(
      {
        ...tool,
        kind,
        definition: async () => definitionOf(await listing.findNow(name), call),
        conditional: tool.conditional || repeatable,
        attempts: isRead ? (rules.attempts ?? READ_ATTEMPTS) : tool.attempts,
        attemptTimeoutMs: rules.attemptTimeoutMs ?? timeout ?? tool.attemptTimeoutMs,
        classify: isRead ? (rules.classify ?? verdictOfMcpRead) : tool.classify,
      },
      engineOf(hf),
    );
  }

  return async (...args) => {
    const given = argumentsOf(client, args);
    const { params } = given;
    const known = await listing.find(params.name);
    const rules = rulesFor(params.name);
    const treatment = treatmentOf({
      tool: known.tool,
      declared: rules.kind,
      trusted: trust.includes(serverNameOf(client) ?? ""),
      unannotated,
      changed: known.changed && rules.changed !== "allow",
    });
    const { timeout, signal } = given.options;
    const sending: Sending = { client, given, lateMs, ...known };
    const tool = treated(params.name, treatment, timeout);
    if (treatment.kind === "read") return read(sending, tool);

    checkSimple(given, known.tool);
    const intent = withoutKeys(params.arguments ?? {}, known.tool);
    const aliases = aliasesOf(options.toolCallId?.(params));
    const turn = {
      scope: fromContext(options.scope, params),
      turn: fromContext(options.turn, params),
      thread: fromContext(options.thread, params),
      messages: options.messages?.(params),
    };
    // The protocol does not tell which calls are of one response.
    const step = crypto.randomUUID();
    const call = (retry?: string) =>
      inTurn(turn, { tool: tool.toolName, line: LINE }, (scope) =>
        current.run(sending, () =>
          tool.outcome(intent, {
            scope,
            signal,
            aliases,
            deadlineMs: timeout ?? rules.deadlineMs,
            retry,
            step,
          }),
        ),
      );
    const first = await call();
    // Whoever calls again after a login wants it tried again.
    const outcome = turnedAway.delete(first.id) ? await call("authorized again") : first;
    const error = "error" in outcome ? outcome.error : undefined;
    if (outcome.status === "not_applied" && error instanceof McpTurnedAwayError) {
      const [oldest] = turnedAway.size >= MAX_TURNED_AWAY ? turnedAway : [];
      if (oldest !== undefined) turnedAway.delete(oldest);
      turnedAway.add(outcome.id);
      // As the client would have thrown it: that is how a program learns that it must log in.
      throw error.cause;
    }
    const reply = replyOf(outcome, rules.readState !== undefined);
    return resultOf(outcome, reply, options.reply ?? "envelope");
  };

  /** A read's result is the tool's own, and so is its error. */
  async function read(sending: Sending, tool: GuardedTool<unknown, unknown>): Promise<unknown> {
    const { params, options: asked } = sending.given;
    const args = withoutKeys(params.arguments ?? {}, sending.tool);
    const { signal, timeout: deadlineMs } = asked;
    const outcome = await current.run({ ...sending, isRead: true }, () =>
      tool.outcome(args, { signal, deadlineMs }),
    );
    if (outcome.status === "committed") return outcome.result;
    const error = "error" in outcome ? outcome.error : undefined;
    throw (error instanceof McpNotSentError ? error.cause : error) ?? error ?? errorOf(outcome);
  }
}

/** A model's word is never a key, in whatever spelling. */
const withoutKeys = (args: unknown, tool: McpTool | undefined): unknown => {
  const named = withoutKey(withoutKey(args, "idempotency_key"), "idempotencyKey");
  return withoutMadeUp(named, keyNamesOf(tool?.inputSchema));
};

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
