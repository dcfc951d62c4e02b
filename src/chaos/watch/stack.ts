/**
 * The stack of the code that sends, with the functions that wait for it.
 *
 * @module
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cause, Frame } from "../log.ts";
import type { Causes } from "./causes.ts";

const DEEP = 100;
const MOST_FRAMES = 200;
/** What watches is on the stack, too. */
const HERE = dirname(fileURLToPath(import.meta.url));

export interface Origin {
  readonly stack: readonly Frame[];
  readonly causes: readonly Cause[];
}

/** Read as text, because the frames of functions that wait are found nowhere else. */
export function captureOrigin(arranged: Causes): Origin {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Reflect.set(Error, "stackTraceLimit", DEEP);
  // A program's own way of writing stacks is not known here.
  Reflect.deleteProperty(Error, "prepareStackTrace");
  const { stack = "" } = new Error();
  const steps = arranged.now().map(({ id, place }) => ({ id, stack: framesIn(place.stack ?? "") }));
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  if (prepareStackTrace) Error.prepareStackTrace = prepareStackTrace;
  return {
    stack: [framesIn(stack), ...steps.map((step) => step.stack)].flat().slice(0, MOST_FRAMES),
    causes: steps.map((step) => ({ id: step.id, by: step.stack.find(isNoHelper) })),
  };
}

/** What compilers make of an `await` is not who waits. */
const isNoHelper = ({ file }: Frame): boolean =>
  !/node_modules[/\\](?:tslib|regenerator-runtime|@swc[/\\]helpers|@babel[/\\]runtime)[/\\]/.test(
    file,
  );

export function framesIn(stack: string): readonly Frame[] {
  return stack.split("\n").flatMap((line) => {
    const [, isAsync, text = ""] = /^ {4}at (async )?(.{1,2000})$/.exec(line) ?? [];
    const frame = frameOf(text);
    const isOurs = frame?.file.startsWith("node:") || frame?.file.startsWith(HERE);
    return frame && !isOurs ? [{ ...frame, isAsync: Boolean(isAsync) }] : [];
  });
}

/** `name (file:line:column)`, or the place alone. */
function frameOf(text: string): Omit<Frame, "isAsync"> | undefined {
  const open = text.endsWith(")") ? text.lastIndexOf(" (") : -1;
  const place = open < 0 ? text : text.slice(open + 2, -1);
  const [, where = "", line, column] = /^(.*):(\d{1,9}):(\d{1,9})$/.exec(place) ?? [];
  if (where === "") return undefined;
  const file = where.startsWith("file:") ? pathOf(where) : where;
  return {
    function: open < 0 ? "" : text.slice(0, open),
    file,
    line: Number(line),
    column: Number(column),
  };
}

const pathOf = (url: string): string => {
  const { pathname } = URL.parse(url) ?? { pathname: url };
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
};
