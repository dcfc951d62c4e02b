/**
 * A `fetch` that does not write twice.
 *
 * Subpath export `"holdfire/fetch"`.
 *
 * @module
 */

export { type Fetch, guardedFetch } from "../../wire/guarded-fetch.ts";
export type { BodyPrint } from "./body-print.ts";
export { createFetch } from "./create-fetch.ts";
export type { FetchArguments, FetchOptions, FetchPolicy, FetchRequest } from "./options.ts";
