/**
 * Names the layer that sent a write again, by what is known for certain: the order of requests to models, processes,
 * and which function went on after the first send, in which package. Where that does not tell, it says so.
 *
 * @module
 */

import { KNOWN_CLIENTS } from "../../integrations/shared/retries/retry-catalogue.ts";
import type { Frame } from "../log.ts";
import { glob } from "../pattern.ts";
import type { RunSend } from "./run-log.ts";

export interface Layer {
  readonly name: LayerName;
  /** The package; missing where it is the agent's own code, a model or a new process. */
  readonly by?: string | undefined;
  /** The line of the agent's own code that is nearest to it. */
  readonly at?: Frame | undefined;
  /** Where `ownRetries` for the package is found. */
  readonly subpath?: string | undefined;
  /** Of a loop: it ran the whole agent again, the model included. */
  readonly isWholeRun?: boolean | undefined;
}

/** `sends`: all of the run, in order. */
export function nameLayer(first: RunSend, again: RunSend, sends: readonly RunSend[]): Layer {
  const asked = sends.filter(({ kind, at }) => kind === "model" && at > first.at && at < again.at);
  const last = asked.at(-1);
  const before = sends.findLast(({ kind, at }) => kind === "model" && at < first.at);
  if (last && (!before || goesOn(before, last))) return { name: "model", at: toolIn(again) };
  if (again.process !== first.process) return { name: "restart", at: innermostOwn(again) };
  if (last && before) {
    // The model was asked from the beginning: the loop is around the run.
    return { ...loopBetween(before, asked[0] ?? last), isWholeRun: true };
  }
  return loopBetween(first, again);
}

/** The conversation has grown, or names what it goes on from. Where that cannot be seen, it is believed. */
function goesOn(before: RunSend, after: RunSend): boolean {
  if (after.continues) return true;
  if (before.messages === undefined || after.messages === undefined) return true;
  return after.messages > before.messages;
}

/** The function that waited for the first send, and went on to send again. */
function loopBetween(first: RunSend, again: RunSend): Layer {
  const { method } = again;
  // Async work is numbered in each process by itself.
  const by = first.process === again.process ? resumedBetween(first, again) : undefined;
  const name = by && packageOf(by);
  if (by && name === undefined) return { name: "loop", at: by };
  if (name !== undefined && retrierOf(name, method)) return byPackage(name, first, again);
  const grown = grownIn(first.stack, again.stack).find((one) => retrierOf(one, method));
  const found = grown ?? name;
  if (found !== undefined) return byPackage(found, first, again);
  return { name: "cannot_tell", at: innermostOwn(again) ?? innermostOwn(first) };
}

/**
 * Both sends come from the last async work that they have in common. What the second one comes from next was
 * arranged by the function that went on: the `await` in its loop.
 */
function resumedBetween(first: RunSend, again: RunSend): Frame | undefined {
  const ofFirst = new Set(first.causes.map(({ id }) => id));
  const common = again.causes.findIndex(({ id }) => ofFirst.has(id));
  return common > 0 ? again.causes[common - 1]?.by : undefined;
}

/** Packages with more frames on the second stack: they have called themselves. From the innermost. */
function grownIn(first: readonly Frame[], again: readonly Frame[]): readonly string[] {
  const countIn = (stack: readonly Frame[], name: string) =>
    stack.filter((frame) => packageOf(frame) === name).length;
  const names = new Set(again.flatMap((frame) => packageOf(frame) ?? []));
  return [...names].filter((name) => countIn(again, name) > countIn(first, name));
}

function byPackage(name: string, first: RunSend, again: RunSend): Layer {
  const { subpath } = retrierOf(name, again.method) ?? {};
  const at = callerOf(name, first.stack) ?? callerOf(name, again.stack);
  return { name: layerOf(name), by: name, at: at ?? innermostOwn(first), subpath };
}

/** The agent's own line that called the package. */
function callerOf(name: string, stack: readonly Frame[]): Frame | undefined {
  const start = stack.findIndex((frame) => packageOf(frame) === name);
  return start < 0 ? undefined : stack.slice(start).find((frame) => packageOf(frame) === undefined);
}

const innermostOwn = ({ stack }: RunSend): Frame | undefined =>
  stack.find((frame) => packageOf(frame) === undefined);

/** The agent's own function that a framework has called: the tool. */
function toolIn(send: RunSend): Frame | undefined {
  const { stack } = send;
  const tools = stack.filter((frame, index) => {
    const caller = stack[index + 1];
    const name = caller && packageOf(caller);
    return packageOf(frame) === undefined && name !== undefined && callsTools(name);
  });
  // One that is on the stack has been called by what is below it; one that waits may have been passed on.
  return tools.find(({ isAsync }) => !isAsync) ?? tools[0] ?? innermostOwn(send);
}

/**
 * - `sdk`: the client of a service, by itself
 * - `framework`: what runs the tools
 * - `model`: it was told of a failure and asked again
 * - `loop`: a loop around the call or around the whole run, in a library or in the agent's own code
 * - `restart`: a new process did it again
 */
export type LayerName = "sdk" | "framework" | "model" | "loop" | "restart" | "cannot_tell";

const FRAMEWORKS = [
  ...["ai", "@ai-sdk/*", "langchain", "@langchain/*", "@openai/agents*", "@mastra/*"],
  ...["@modelcontextprotocol/*", "llamaindex", "@llamaindex/*", "genkit", "@genkit-ai/*"],
];

const LOOPS = [
  ...["p-retry", "async-retry", "retry", "promise-retry", "exponential-backoff", "cockatiel"],
  ...["ts-retry-promise", "p-queue", "bottleneck", "bullmq", "pg-boss", "opossum"],
];

const isOneOf = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => glob(pattern, name));

export function layerOf(packageName: string): "sdk" | "framework" | "loop" {
  if (isOneOf(FRAMEWORKS, packageName)) return "framework";
  return isOneOf(LOOPS, packageName) ? "loop" : "sdk";
}

/** Frameworks, and the SDKs of models that have a tool runner. */
const callsTools = (packageName: string): boolean =>
  isOneOf([...FRAMEWORKS, "openai", "@anthropic-ai/sdk", "@google/genai"], packageName);

/** What is known of a package that retries; of one that sends no POST again, nothing is known for a POST. */
function retrierOf(packageName: string, method: string): { readonly subpath?: string } | undefined {
  if (isOneOf(LOOPS, packageName)) return {};
  const known = KNOWN_CLIENTS.find(({ packages }) => isOneOf(packages, packageName));
  if (!known || (method === "POST" && !known.posts)) return undefined;
  return known.subpath === undefined ? {} : { subpath: known.subpath };
}

const FOLDER = "node_modules/";

/** The package that a frame is in; `undefined` for the agent's own code. */
export function packageOf({ file }: Pick<Frame, "file">): string | undefined {
  const path = file.replaceAll("\\", "/");
  const at = path.lastIndexOf(FOLDER);
  if (at < 0) return undefined;
  const [scope = "", name = ""] = path.slice(at + FOLDER.length).split("/", 2);
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}
