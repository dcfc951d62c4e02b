/**
 * What a user says about a tool: what it does, what the service promises, how its state is read.
 *
 * Everything here is a declaration; `steps/parts/decide.ts` decides what it licenses. A new option also goes into `define-tool.ts` and
 * `tool.ts`. The options of `fetch` (`integrations/fetch/options.ts`) and the rules of the gateway (`gateway/guard/rules.ts`) may take it.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";
import type { Effect, Verdict } from "../../reasons.ts";
import type { Reading, StateQuery } from "./reading.ts";
import type { Input } from "./schema.ts";

/** `read` is retried freely and not recorded; `write` is guarded; `destructive` also asks a person. */
export type ToolKind = "read" | "write" | "destructive";

export type OnDrift = "hold" | "allow" | "refuse";

/** What `run` is given beside the arguments. */
export interface AttemptContext {
  /** The idempotency key: the same on every attempt, until the service itself has rejected it. Taking it is what earns a keyed tool its resend. */
  readonly key: string;
  /** What `precondition` returned, fixed before the first attempt. */
  readonly precondition: Json | undefined;
  /** From 1. */
  readonly attempt: number;
  /** Fires when `run` has failed, or is not waited for: another is fired, the outcome is known, or no caller waits. Never after a success. */
  readonly signal: AbortSignal;
  /**
   * A `fetch` that belongs to this attempt: what it sends is counted, the same request is sent once, and after
   * the attempt's end nothing is. With `keyed.header`, writes carry the key.
   */
  readonly fetch: typeof globalThis.fetch;
}

/** One thing that a call would change. */
export interface PlannedChange {
  readonly type: "create" | "update" | "delete";
  /** What is changed, e.g. `payment/p1`. */
  readonly target: string;
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
}

/** What `plan` returns: what the person is shown. */
export interface Plan {
  readonly changes: readonly PlannedChange[];
}

/** Times in milliseconds since the epoch. */
export interface EffectSpan {
  readonly since: number;
  readonly until: number;
  readonly signal: AbortSignal;
}

/** An effect, as the service lists it. */
export interface ListedEffect {
  /** As `effect.id` would name it. */
  readonly effectId: string;
  /** The idempotency key it was sent under, if the service tells. */
  readonly key?: string | undefined;
  /** When it happened, in milliseconds since the epoch. */
  readonly at?: number | undefined;
}

/** What a result says of the world; for the model, for other operations and for `hf.driftReport`. */
export interface EffectOptions<R> {
  /** What it changed, told to the model. */
  readonly type?: ((result: R) => Effect) | undefined;
  /** The service's own id of the effect: no other operation's reader takes it, unless `type` says `updated`, `deleted` or `noop`. */
  readonly id?: ((result: R) => string | undefined) | undefined;
  /**
   * For `hf.driftReport`: whether the effect found now is still what the stored result says.
   *
   * @default changes are not checked
   */
  readonly same?: ((result: R, found: R) => Promise<boolean> | boolean) | undefined;
  /**
   * For `hf.driftReport`: all effects of this kind that the service has from `since` on and before `until`,
   * whoever made them, so that those of no operation are found. Needs `id`.
   *
   * @default not checked
   */
  readonly list?:
    | ((span: EffectSpan) => Promise<readonly ListedEffect[]> | readonly ListedEffect[])
    | undefined;
}

/** What the service promises about our key. */
export interface KeyedOptions {
  /** How long it remembers a key, in milliseconds. */
  readonly forMs: number;
  /** The header in which `context.fetch` sends the key, e.g. `"Idempotency-Key"`. @default `run` sends it itself */
  readonly header?: string | undefined;
}

/** A request that an attempt makes, as `ignores` is asked about it. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
  /** The body, where it was sent as text through `context.fetch`. */
  readonly body?: string | undefined;
}

/** The parts of a tool's definition that do not depend on where its argument type comes from. */
export interface ToolOptions<A, I, R> {
  /** Part of the key, and the name people see. One name, one kind. */
  readonly name: string;
  /** Whether it writes. There is no default: guessing is how things happen twice. */
  readonly kind: ToolKind;
  /**
   * The fields that say *what was wanted*. Two calls in one scope with the same intent are one
   * operation; wording and comments stay out. Without it, all arguments.
   */
  readonly intent?: ((args: A) => I) | undefined;
  /** Names of text fields of the intent whose white space does not matter; or a function. */
  readonly normalize?: readonly string[] | ((intent: I) => I) | undefined;
  /** What is written to, e.g. `payment/p1`. Writes to one resource go one at a time. */
  readonly resource?: ((args: A) => string) | undefined;
  /**
   * Whether the intent may hold values shaped like the id of a tool call (`call_…`, `toolu_…`, `chatcmpl-…`). Such an id
   * changes with every try, unless it is the service's own, as the calls of a voice agent are. The id of the current
   * tool call, run or message is refused in either case.
   *
   * @default "refuse"
   */
  readonly volatileIds?: "refuse" | "allow" | undefined;
  /** The remote service, which tools may share: one retry budget, one set of effect ids. @default name */
  readonly service?: string | undefined;
  /** A call in a scope with an open operation of another version of this tool is held. */
  readonly version?: string | undefined;
  /**
   * What becomes of another intent on the same `resource` in one scope while an earlier one is not
   * settled, or when an earlier run of the scope made one that this run has not repeated; and of another
   * intent by a model that was told that the first is open: a person is asked, it is allowed, or it is
   * denied. @default "hold"
   */
  readonly onDrift?: OnDrift | undefined;
  /**
   * The service remembers a key this long, in milliseconds, and answers a repeated one with the first
   * result. Without it, a lost reply is never sent again on trust in the key.
   */
  readonly keyed?: KeyedOptions | undefined;
  /**
   * What the service compares before it applies the write (an ETag, a version, a unique name), so that a resend
   * cannot apply it twice. A function reads it before the claim; it is fixed there and sent unchanged on every
   * attempt. `"given"`: the arguments carry it themselves, as a unique name does.
   */
  readonly precondition?: ((args: A) => Promise<Json> | Json) | "given" | undefined;
  /** Looks whether it happened. Without it, a lost reply of an unkeyed tool stays unknown. */
  readonly readState?:
    | ((query: StateQuery<I>) => Promise<Reading<NoInfer<R>>> | Reading<NoInfer<R>>)
    | undefined;
  /**
   * After a request has ended, the service commits within this many milliseconds or never; the
   * reader's lag included. Without it, *absent* proves nothing.
   */
  readonly commitsWithinMs?: number | undefined;
  /**
   * Reads the state before the first attempt; what is there is not sent, unless the reader names an `effectId` that another
   * operation has. With a store that may forget, a tool with `readState` is read first in any case, except in a scope with
   * `fresh: true`. @default false
   */
  readonly readFirst?: boolean | undefined;
  /** Statuses by which the service says for certain that it did nothing, e.g. `[429]`. @default [] */
  readonly refuses?: readonly number[] | undefined;
  /** Statuses that are a yes for this tool, e.g. `[404]` where it deletes. @default [] */
  readonly accepts?: readonly number[] | undefined;
  /**
   * `"http"`: all that `run` does to the world goes through `context.fetch`, or through other tools. Only then is it
   * certain that nothing was sent, so only then is a call that could not be sent fired again. @default not promised
   */
  readonly via?: "http" | undefined;
  /**
   * Requests that are no part of the effect: origins (a token endpoint, telemetry), or a function (a GraphQL
   * query). GET, HEAD and OPTIONS count as reads; where a tool that is `via: "http"` has sent nothing else, one that
   * failed may have been the write, unless it is named here. @default []
   */
  readonly ignores?: readonly (string | ((request: RequestLine) => boolean))[] | undefined;
  /** What an error (or a Response that is not 2xx) proves; `undefined` = no opinion. */
  readonly classify?: ((error: unknown) => Verdict | undefined) | undefined;
  /** What a result says of the world. */
  readonly effect?: EffectOptions<NoInfer<R>> | undefined;
  /** Side effects a person should know of, e.g. `"e-mails the customer"`. @default [] */
  readonly alsoDoes?: readonly string[] | undefined;
  /** A dry run: what the call would change. */
  readonly plan?: ((args: A) => Promise<Plan> | Plan) | undefined;
  /** The postcondition of a success, for services that say yes and do nothing. */
  readonly verify?:
    | ((
        result: NoInfer<R>,
        about: { readonly intent: I; readonly signal: AbortSignal },
      ) => Promise<boolean> | boolean)
    | undefined;
  /** Restores the result of a repeated call from its JSON: a `Date` is a text there. @default the JSON as it is */
  readonly revive?: ((stored: unknown) => NoInfer<R>) | undefined;
  /**
   * After how many milliseconds an attempt is slow: the state is read, or a keyed tool fires again. Where neither
   * helps, the call waits for it until the deadline. @default 30_000
   */
  readonly attemptTimeoutMs?: number | undefined;
  /** How long one read of the state may take, in milliseconds. @default 5_000 */
  readonly readTimeoutMs?: number | undefined;
  /** How long a call may take in all, in milliseconds, without a person's time. @default 60_000, adapters and `createFetch` 45_000 */
  readonly deadlineMs?: number | undefined;
  /** How often it may be fired by one call, the first time included. @default 3, reads 4 */
  readonly attempts?: number | undefined;
}

/** The function that does it, once. Its result type is the tool's. */
export type Run<A, R> = (args: A, context: AttemptContext) => Promise<R> | R;

/** A tool whose arguments are checked by a schema. */
export interface ToolWithInput<A, I, R, G = A> extends ToolOptions<NoInfer<A>, I, R> {
  /** Any Standard Schema, or `typed<Args>()`. */
  readonly input: Input<A, G>;
  readonly run: Run<NoInfer<A>, R>;
}

/** A tool whose argument type is written where its arguments are first named: at `run`, or before it. */
export interface ToolWithoutInput<A, I, R> extends ToolOptions<A, I, R> {
  readonly input?: undefined;
  readonly run: Run<A, R>;
}

export type ToolDefinition<A, I, R> = ToolWithInput<A, I, R> | ToolWithoutInput<A, I, R>;

/** The one set of options of every call. */
export interface CallOptions {
  /** The permission this call is made under. Replaces the ambient scope. */
  readonly scope?: string | undefined;
  /** Wanted once more, on purpose: another operation. Said by the caller or a person, never by a model. */
  readonly again?: string | undefined;
  /** Why something that was rejected should be tried once more. */
  readonly retry?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Overrides the tool's own, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Ids that change with every try (tool-call, message, run); kept for tracing, never part of the key. */
  readonly aliases?: readonly string[] | undefined;
  /**
   * The model's response that asks for this call, e.g. its id: calls of one response do not know of each other's
   * outcomes. A call with a step, like every `reply`, is a model's.
   *
   * @default for `reply`, a response of its own
   */
  readonly step?: string | undefined;
}
