/** What `holdfire/anthropic` is, from the sources. @module */

export * from "../../src/clients/anthropic.ts";
