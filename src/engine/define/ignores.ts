/**
 * Which requests of a tool are no part of its effect: the tool's `ignores` as one function.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { RequestLine } from "./definition.ts";

export type Ignores = readonly (string | ((request: RequestLine) => boolean))[];

export function ignoresOf(given: Ignores, path: string): (request: RequestLine) => boolean {
  const rules = given.map((rule, at) => ruleOf(rule, `${path}[${at}]`));
  return (request) => rules.some((rule) => rule(request) === true);
}

function ruleOf(rule: unknown, path: string): (request: RequestLine) => unknown {
  if (typeof rule === "function") return rule as (request: RequestLine) => unknown;
  const origin = typeof rule === "string" ? URL.parse(rule)?.origin : undefined;
  if (!origin || origin === "null") {
    throw new InvalidInputError(path, 'must be an origin ("https://auth.example") or a function.');
  }
  return ({ url }) => URL.parse(url)?.origin === origin;
}
