/**
 * The engine behind a holdfire, for the parts of this package that stand on it. Not public.
 *
 * @module
 */

import { ClosedError, InvalidInputError } from "../errors.ts";
import type { Engine } from "./engine.ts";

const engines = new WeakMap<object, Engine>();

export function bindEngine<T extends object>(hf: T, engine: Engine): T {
  engines.set(hf, engine);
  return hf;
}

export function engineOf(hf: object): Engine {
  const engine = typeof hf === "object" && hf !== null ? engines.get(hf) : undefined;
  if (!engine) throw new InvalidInputError("hf", "must be what createHoldfire() returned.");
  if (engine.isClosed()) throw new ClosedError();
  return engine;
}
