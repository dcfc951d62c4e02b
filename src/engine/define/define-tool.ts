/**
 * From a user's definition to a tool with its defaults filled in. Bad definitions are refused here,
 * long before anything is sent. What was checked is kept as a copy: a program that changes its lists later changes no tool.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { checkToolName } from "../../key/check-name.ts";
import {
  checkOptions,
  copied,
  notNegative,
  oneOf,
  positive,
  statuses,
  wholeNumber,
} from "./check.ts";
import type {
  KeyedOptions,
  OnDrift,
  RequestLine,
  ToolDefinition,
  ToolKind,
  ToolWithInput,
} from "./definition.ts";
import type { Effects, Learned, Tool } from "./tool.ts";

/** Of a holdfire with the option `retry.attempts`, that number takes the place of `writeAttempts`: in `holdfire.ts`. */
const DEFAULTS = {
  attemptTimeoutMs: 30_000,
  readTimeoutMs: 5_000,
  deadlineMs: 60_000,
  writeAttempts: 3,
  readAttempts: 4,
};

/** What a call may take that comes through an adapter or `createFetch`: MCP clients, among others, give up after 60 s. */
export const ADAPTER_DEADLINE_MS = 45_000;

type Option = keyof ToolWithInput<never, never, unknown>;

/** Every option, and whether it must be a function. One that is missing here does not compile. */
const OPTIONS: { readonly [O in Option]-?: "function" | "other" } = {
  intent: "function",
  resource: "function",
  run: "function",
  readState: "function",
  classify: "function",
  plan: "function",
  verify: "function",
  revive: "function",
  name: "other",
  kind: "other",
  input: "other",
  normalize: "other",
  volatileIds: "other",
  service: "other",
  version: "other",
  onDrift: "other",
  keyed: "other",
  precondition: "other",
  effect: "other",
  commitsWithinMs: "other",
  readFirst: "other",
  refuses: "other",
  accepts: "other",
  via: "other",
  ignores: "other",
  alsoDoes: "other",
  attemptTimeoutMs: "other",
  readTimeoutMs: "other",
  deadlineMs: "other",
  attempts: "other",
};

const FUNCTIONS = (Object.keys(OPTIONS) as Option[]).filter((one) => OPTIONS[one] === "function");

const EFFECTS = ["type", "id", "same", "list"] as const satisfies readonly (keyof Effects)[];

const VIA = ["http"] as const;
const ON_DRIFT = ["hold", "allow", "refuse"] as const satisfies readonly OnDrift[];
const VOLATILE_IDS = ["refuse", "allow"] as const;
const KINDS = new Set<unknown>(["read", "write", "destructive"] satisfies ToolKind[]);

/** Remembers what was learned of each tool, and that one name is one kind. */
export type Registry = Map<string, { readonly kind: ToolKind; readonly learned: Learned }>;

export function defineTool(
  definition: ToolDefinition<never, never, unknown>,
  registry: Registry,
): Tool {
  const given = definition as unknown as Readonly<Record<string, unknown>> &
    Omit<Tool, "precondition" | "ignores"> & {
      readonly keyed?: KeyedOptions;
      readonly via?: "http";
      readonly ignores?: readonly unknown[];
      readonly precondition?: Tool["precondition"] | "given";
    };
  const name = checkToolName(given.name);
  const at = (option: string) => `tool "${name}".${option}`;
  for (const option of Object.keys(given)) {
    if (!Object.hasOwn(OPTIONS, option))
      throw new InvalidInputError(at(option), "is not an option of a tool.");
  }
  if (!KINDS.has(given.kind)) {
    throw new InvalidInputError(at("kind"), `must be "read", "write" or "destructive".`);
  }
  for (const option of FUNCTIONS) checkFunction(given[option], at(option), option === "run");
  const precondition = given.precondition === "given" ? undefined : given.precondition;
  checkFunction(precondition, at("precondition"));
  const { kind } = given;
  const known = registry.get(name) ?? {
    kind,
    learned: { keyUnused: false, readerBlind: false, readerChecked: false },
  };
  if (known.kind !== kind) {
    throw new InvalidInputError(
      at("kind"),
      `is "${kind}", but a tool of this name is "${known.kind}"; give them different names.`,
    );
  }
  const attempts = kind === "read" ? DEFAULTS.readAttempts : DEFAULTS.writeAttempts;
  const tool: Tool = {
    name,
    kind,
    service: given.service ?? name,
    version: given.version,
    onDrift: oneOf(given.onDrift ?? "hold", ON_DRIFT, at("onDrift")),
    mayReword: [],
    input: given.input,
    intent: given.intent,
    normalize: copied(given.normalize),
    resource: given.resource,
    volatileIds: oneOf(given.volatileIds ?? "refuse", VOLATILE_IDS, at("volatileIds")),
    run: given.run,
    keyedForMs: given.keyed && positive(given.keyed.forMs, at("keyed.forMs"), true),
    keyHeader: given.keyed?.header,
    conditional: given.precondition !== undefined,
    precondition,
    readState: given.readState,
    commitsWithinMs: notNegative(given.commitsWithinMs, at("commitsWithinMs")),
    readFirst: given.readFirst ?? false,
    refuses: statuses(given.refuses ?? [], at("refuses")),
    accepts: statuses(given.accepts ?? [], at("accepts")),
    viaHttp: given.via !== undefined && oneOf(given.via, VIA, at("via")) === "http",
    ignores: ignoresOf(given.ignores ?? [], at("ignores")),
    classify: given.classify,
    effect: effectsOf(given.effect ?? {}, at("effect")),
    alsoDoes: copied(given.alsoDoes ?? []),
    definition: undefined,
    plan: given.plan,
    verify: given.verify,
    revive: given.revive,
    attemptTimeoutMs: positive(
      given.attemptTimeoutMs ?? DEFAULTS.attemptTimeoutMs,
      at("attemptTimeoutMs"),
    ),
    readTimeoutMs: positive(given.readTimeoutMs ?? DEFAULTS.readTimeoutMs, at("readTimeoutMs")),
    deadlineMs: positive(given.deadlineMs ?? DEFAULTS.deadlineMs, at("deadlineMs")),
    attempts: wholeNumber(given.attempts ?? attempts, at("attempts")),
    learned: known.learned,
  };
  // Only now: a definition that was refused leaves its name free.
  registry.set(name, known);
  return tool;
}

function checkFunction(value: unknown, path: string, isRequired = false): void {
  if (value === undefined && !isRequired) return;
  if (typeof value !== "function") throw new InvalidInputError(path, "must be a function.");
}

function effectsOf(given: Effects, path: string): Effects {
  checkOptions(given, EFFECTS, path);
  for (const name of EFFECTS) checkFunction(given[name], `${path}.${name}`);
  if (given.list && !given.id) {
    const rule = "needs effect.id: without it every listed effect would count as foreign.";
    throw new InvalidInputError(`${path}.list`, rule);
  }
  const { type, id, same, list } = given;
  return { type, id, same, list };
}

/** Which requests of a tool are no part of its effect: its `ignores` as one function. */
function ignoresOf(rules: readonly unknown[], path: string): (request: RequestLine) => boolean {
  const asked = rules.map((rule, at) => ruleOf(rule, `${path}[${at}]`));
  return (request) => asked.some((isIgnored) => isIgnored(request) === true);
}

function ruleOf(rule: unknown, path: string): (request: RequestLine) => unknown {
  if (typeof rule === "function") return rule as (request: RequestLine) => unknown;
  const origin = typeof rule === "string" ? URL.parse(rule)?.origin : undefined;
  if (!origin || origin === "null") {
    throw new InvalidInputError(path, 'must be an origin ("https://auth.example") or a function.');
  }
  return ({ url }) => URL.parse(url)?.origin === origin;
}
