/**
 * The stack of the code that sends, with the functions that wait for it, and by whom each piece of async work was arranged:
 * what comes after an `await`, a timer, a socket's event. A stack alone ends where a promise is passed on or an event is
 * emitted, and it does not tell two calls of one function apart.
 *
 * @module
 */

import { createHook, executionAsyncId } from "node:async_hooks";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cause, Frame } from "../log.ts";

interface Arranged {
  readonly id: number;
  /** Where: made into text only when it is asked for. */
  readonly place: { readonly stack?: string };
}

export interface Causes {
  /** What runs now, what it was arranged by, and so on. */
  now(): readonly Arranged[];
}

const MOST_KEPT = 50_000;
const MOST_STEPS = 300;
const FRAMES = 25;

function placeNow(): Arranged["place"] {
  const { stackTraceLimit } = Error;
  const place = {};
  // Where a program has frozen it, its own limit counts: what throws in here would end the process.
  Reflect.set(Error, "stackTraceLimit", FRAMES);
  Error.captureStackTrace(place);
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return place;
}

export function rememberCauses(): Causes {
  const kept = new Map<number, Arranged & { readonly during: number }>();
  createHook({
    init(id) {
      kept.set(id, { id, place: placeNow(), during: executionAsyncId() });
      if (kept.size <= MOST_KEPT) return;
      const [oldest = id] = kept.keys();
      kept.delete(oldest);
    },
  }).enable();

  return {
    now() {
      const steps: Arranged[] = [];
      let id = executionAsyncId();
      while (id > 0 && steps.length < MOST_STEPS) {
        const step = kept.get(id);
        steps.push(step ?? { id, place: {} });
        id = step?.during ?? 0;
      }
      return steps;
    },
  };
}

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
