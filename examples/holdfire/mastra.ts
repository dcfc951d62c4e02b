/** What `holdfire/mastra` is, from the sources. @module */

export * from "../../src/adapters/mastra.ts";
