/** What `holdfire/durable` is, from the sources. @module */

export * from "../../src/adapters/scope-from.ts";
