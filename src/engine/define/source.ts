/**
 * The source of a tool's `run`: tells two tools of one name apart. Tools that are built per request have one source,
 * each time in another closure.
 *
 * @module
 */

const UNKNOWN = "";

const sources = new WeakMap<object, string>();

/** As it is written; what is not JavaScript (a bound function) has one text for all. */
export function sourceOf(run: object): string {
  const known = sources.get(run);
  if (known !== undefined) return known;
  const source = Function.prototype.toString.call(run);
  sources.set(run, source);
  return source;
}

/**
 * `wrapper` runs `wrapped`, a function or the name of a program; `undefined` if it is not known yet. All wrappers of one
 * kind have the same text.
 */
export function standsFor<F extends object>(wrapper: F, wrapped: unknown): F {
  const source = typeof wrapped === "function" ? sourceOf(wrapped) : wrapped;
  sources.set(wrapper, typeof source === "string" ? source : UNKNOWN);
  return wrapper;
}

/** What is not known is not held against a tool. */
export const isSameSource = (one: string, other: string): boolean =>
  one === other || one === UNKNOWN || other === UNKNOWN;
