/** What `holdfire/openai` is, from the sources. @module */

export * from "../../src/clients/openai.ts";
