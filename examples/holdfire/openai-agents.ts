/** What `holdfire/openai-agents` is, from the sources. @module */

export * from "../../src/clients/openai-agents.ts";
