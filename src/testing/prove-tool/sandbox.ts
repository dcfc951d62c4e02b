/**
 * What a proof is given to work with: a service where effects do no harm, and fresh arguments.
 *
 * @module
 */

import { isIPv4 } from "node:net";
import { checkOptions, positive, show } from "../../engine/define/check.ts";
import type { ToolWithInput, ToolWithoutInput } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";
import { type Clock, systemClock } from "../../lang/clock.ts";
import { isSafe } from "../../wire/counter.ts";

/** A request on its way through the cutting proxy. */
export interface ProbedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
}

export interface Sandbox<A, I, R, G = A> {
  /** The service, as the base URL that the tool is wired to. A proof makes real effects there. */
  readonly target: string | URL;
  /** Arguments for one call; each time for another effect, so that no probe finds that of another. */
  readonly args: () => G | Promise<G>;
  /**
   * The same definition, wired to another base URL: a proxy on loopback that passes everything on to
   * `target`, and loses replies on demand. Without it no reply is cut, and what rests on that stays
   * untested.
   */
  readonly connect?:
    | ((baseUrl: string) => ToolWithInput<A, I, R, G> | ToolWithoutInput<A, I, R>)
    | undefined;
  /**
   * How many effects this intent really had, from the service's own records. Without it, the tool's
   * reader and results are trusted.
   */
  readonly countEffects?: ((intent: I, key: string) => number | Promise<number>) | undefined;
  /**
   * Which of the requests made by `run` carry the effect, and are cut.
   *
   * @default all but GET, HEAD and OPTIONS
   */
  readonly carriesEffect?: ((request: ProbedRequest) => boolean) | undefined;
  /**
   * Allows a target on another machine. A proof fires the tool several times, with real effects.
   *
   * @default false
   */
  readonly allowRemote?: boolean | undefined;
  /**
   * How long the state is read for an effect that must be there, in milliseconds. What the reader has not
   * found by then counts as not found.
   *
   * @default `commitsWithinMs` and one second
   */
  readonly readForMs?: number | undefined;
  /** The clock of the waits between two reads, for tests. @default the system's */
  readonly clock?: Clock | undefined;
}

/** A sandbox with its defaults filled in and its types erased. */
export interface Ground {
  readonly target: URL;
  readonly args: () => unknown;
  readonly connect: ((baseUrl: string) => object) | undefined;
  readonly countEffects: ((intent: unknown, key: string) => unknown) | undefined;
  readonly carriesEffect: (request: ProbedRequest) => boolean;
  readonly readForMs: number;
  readonly clock: Clock;
}

const KNOWN = [
  "target",
  "args",
  "connect",
  "countEffects",
  "carriesEffect",
  "allowRemote",
  "readForMs",
  "clock",
] as const satisfies readonly (keyof Sandbox<unknown, unknown, unknown>)[];

const BEYOND_MS = 1_000;

export function checkSandbox(
  sandbox: Sandbox<never, never, unknown>,
  commitsWithinMs: number,
): Ground {
  checkOptions(sandbox, KNOWN, "sandbox");
  const { args, connect, countEffects, allowRemote, clock = systemClock } = sandbox;
  const { carriesEffect = ({ method }: ProbedRequest) => !isSafe(method) } = sandbox;
  for (const [name, value] of Object.entries({ args, connect, countEffects, carriesEffect })) {
    if (typeof value !== "function" && (value !== undefined || name === "args")) {
      throw new InvalidInputError(`sandbox.${name}`, "must be a function.");
    }
  }
  const readForMs = positive(sandbox.readForMs ?? commitsWithinMs + BEYOND_MS, "sandbox.readForMs");
  return {
    target: checkTarget(sandbox.target, allowRemote === true),
    args,
    connect,
    countEffects: countEffects as Ground["countEffects"],
    carriesEffect: (request) => saysYes(carriesEffect, request),
    readForMs,
    clock,
  };
}

/** A function that throws inside the proxy would take the process with it. */
function saysYes(ask: (request: ProbedRequest) => boolean, request: ProbedRequest): boolean {
  try {
    return ask(request) === true;
  } catch {
    return false;
  }
}

function checkTarget(given: unknown, allowRemote: boolean): URL {
  const path = "sandbox.target";
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== "string" || !URL.canParse(text)) {
    throw new InvalidInputError(path, `must be a URL, got ${show(given)}.`);
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new InvalidInputError(path, "must be an http or https URL.");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new InvalidInputError(path, "must have no credentials, query or fragment.");
  }
  if (!allowRemote && !isLoopback(url.hostname)) {
    throw new InvalidInputError(
      path,
      "is on another machine, and a proof causes real effects. If it is a sandbox, pass allowRemote: true.",
    );
  }
  return url;
}

/** The host as `URL` writes it, so every spelling of an IPv4 address is dotted by now. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
