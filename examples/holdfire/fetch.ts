/** What `holdfire/fetch` is, from the sources. @module */

export * from "../../src/adapters/fetch.ts";
