/**
 * A tool inside the engine: the user's definition with its defaults filled in and its types erased.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";
import type { Declared } from "../../ledger/record.ts";
import type { Verdict } from "../../reasons.ts";
import type {
  AttemptContext,
  EffectSpan,
  OnDrift,
  Plan,
  RequestLine,
  ToolKind,
} from "./definition.ts";
import type { StateQuery } from "./reading.ts";
import type { Input } from "./schema.ts";

export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  readonly service: string;
  readonly version: string | undefined;
  readonly onDrift: OnDrift;
  /** Operations that a model was told of as open, and that the call at hand may be in other words. */
  readonly mayReword: readonly string[];
  readonly input: Input<unknown> | undefined;
  /** `undefined`: all arguments are the intent. */
  readonly intent: ((args: unknown) => unknown) | undefined;
  readonly normalize: readonly string[] | ((intent: unknown) => unknown) | undefined;
  readonly resource: ((args: unknown) => string) | undefined;
  /** `"allow"`: a value shaped like the id of a tool call is the service's own. */
  readonly volatileIds: "refuse" | "allow";
  readonly run: (args: unknown, context: AttemptContext) => unknown;
  readonly keyedForMs: number | undefined;
  /** The header in which the attempt's own `fetch` sends the key. */
  readonly keyHeader: string | undefined;
  /** The service compares a precondition: one that is read, or one in the arguments. */
  readonly conditional: boolean;
  readonly precondition: ((args: unknown) => unknown) | undefined;
  readonly readState: ((query: StateQuery<Json>) => unknown) | undefined;
  readonly commitsWithinMs: number | undefined;
  readonly readFirst: boolean;
  readonly refuses: readonly number[];
  readonly accepts: readonly number[];
  /** All that it does to the world goes through the attempt's own `fetch`. */
  readonly viaHttp: boolean;
  readonly ignores: (request: RequestLine) => boolean;
  readonly classify: ((error: unknown) => Verdict | undefined) | undefined;
  readonly effect: Effects;
  readonly alsoDoes: readonly string[];
  /** What others say the tool is at the moment, e.g. an MCP server. A person agrees to this, too. */
  readonly definition: (() => Promise<Json>) | undefined;
  readonly plan: ((args: unknown) => Promise<Plan> | Plan) | undefined;
  readonly verify:
    | ((result: unknown, about: { intent: unknown; signal: AbortSignal }) => unknown)
    | undefined;
  readonly revive: ((stored: unknown) => unknown) | undefined;
  readonly attemptTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly deadlineMs: number;
  readonly attempts: number;
  /** What this process has learned of it. */
  readonly learned: Learned;
  /** Set by reconcile: the operation may have been made by another tool of this name, over another account. */
  readonly isOneOfSeveral?: true | undefined;
}

/** As in `EffectOptions`: each asks the user's own code. */
export interface Effects {
  readonly type?: ((result: unknown) => unknown) | undefined;
  readonly id?: ((result: unknown) => unknown) | undefined;
  readonly same?: ((result: unknown, found: unknown) => unknown) | undefined;
  readonly list?: ((span: EffectSpan) => unknown) | undefined;
}

/** Shared by all tools of one name in one tenant of a holdfire. */
export interface Learned {
  keyUnused: boolean;
  readerBlind: boolean;
  readerChecked: boolean;
}

/** Whether the service itself recognises a repetition: two yeses may then be one effect. */
export const recognisesRepeats = ({ keyedForMs, conditional }: Tool): boolean =>
  keyedForMs !== undefined || conditional;

/** Whether it does so where the record of the first request is lost: a precondition that is read anew is another one. */
export const recognisesForgotten = (tool: Tool): boolean =>
  tool.keyedForMs !== undefined || (tool.conditional && !tool.precondition);

/** What the record keeps of the tool's promises when an attempt is noted; `undefined` if it makes none. */
export function declaredBy(tool: Tool, enlisted: boolean): Declared | undefined {
  if (!recognisesRepeats(tool) && !enlisted) return undefined;
  return {
    keyed: tool.keyedForMs === undefined ? undefined : true,
    conditional: tool.conditional || undefined,
    enlisted: enlisted || undefined,
  };
}

const tools = new WeakMap<object, Tool>();

export function registerTool<T extends object>(guarded: T, tool: Tool): T {
  tools.set(guarded, tool);
  return guarded;
}

/** `undefined`: it is no guarded tool, or one of another copy of this package. */
export const toolOf = (guarded: object): Tool | undefined => tools.get(guarded);
