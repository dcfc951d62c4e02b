/**
 * The chat models inside what LangChain makes of them: frames (`bindTools`, `withRetry`), sequences (`withStructuredOutput`), and the
 * models that one of `initChatModel` makes when it is asked.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { replaceMethod } from "../shared/retries/own-client.ts";

/** The thing itself and all that is inside it, from the outside. */
export function partsOf(runnable: unknown): readonly object[] {
  if (typeof runnable !== "object" || runnable === null) return [];
  // Of a sequence the model comes first; of a map, it is one of the steps.
  const steps = Object.values(Object(peek(runnable, "steps")));
  const inner = [peek(runnable, "bound"), peek(runnable, "first"), ...steps];
  return [runnable, ...inner.flatMap(partsOf)];
}

type Method = (this: object, config: unknown) => unknown;

/** Of `initChatModel`: it only makes the models that are asked. */
export const makesModels = (model: object): boolean =>
  typeof peek(model, "_getModelInstance") === "function";

/** What it makes, and what is made of it by another configuration, goes to `ownAs`, with the model that made it. */
export function followMade(holder: object, ownAs: (maker: object, made: unknown) => void): void {
  for (const name of ["_getModelInstance", "withConfig"]) {
    replaceMethod<Method>(
      holder,
      name,
      (original) =>
        function (config) {
          const made = original.call(this, config);
          if (!(made instanceof Promise)) {
            ownAs(this, made);
            return made;
          }
          return made.then((model: unknown) => {
            ownAs(this, model);
            return model;
          });
        },
    );
  }
}
