/** What `holdfire/ai` is, from the sources. @module */

export * from "../../src/clients/ai.ts";
