/**
 * The source of a tool's `run`: tells two tools of one name apart. Tools that are built per request have one source,
 * each time in another closure: what that closes over, an account or a token, cannot be seen.
 *
 * @module
 */

const UNKNOWN = "";

const sources = new WeakMap<object, string>();
const wrappedBy = new WeakMap<object, unknown>();

/** As it is written; what is not JavaScript (a bound function) has one text for all. */
export function sourceOf(run: object): string {
  const known = sources.get(run);
  if (known !== undefined) return known;
  const source = Function.prototype.toString.call(run);
  sources.set(run, source);
  return source;
}

/**
 * `wrapper` runs `wrapped`, a function or the text that names a program or a request; `undefined` if it is not known yet. All wrappers of one
 * kind have the same text.
 */
export function standsFor<F extends object>(wrapper: F, wrapped: unknown): F {
  const source = typeof wrapped === "function" ? sourceOf(wrapped) : wrapped;
  sources.set(wrapper, typeof source === "string" ? source : UNKNOWN);
  wrappedBy.set(wrapper, wrapped);
  return wrapper;
}

/** What is not known is not held against a tool. */
export const isSameSource = (one: string, other: string): boolean =>
  one === other || one === UNKNOWN || other === UNKNOWN;

interface ToolFunctions {
  readonly run: object;
  readonly readState?: unknown;
}

/** Whether two tools of one name have the same `run` and `readState`. What is not known yet is not held against a tool. */
export function hasSameFunctions(one: ToolFunctions, other: ToolFunctions): boolean {
  if (one.readState !== other.readState) return false;
  const [first, second] = [functionOf(one.run), functionOf(other.run)];
  return first === undefined || second === undefined || first === second;
}

/** What `run` wraps; of a program or a request, which are no functions, the wrapper itself is compared. */
function functionOf(run: object): unknown {
  if (!wrappedBy.has(run)) return run;
  const wrapped = wrappedBy.get(run);
  return typeof wrapped === "string" ? run : wrapped;
}
