/** What `holdfire/openai-agents` is, from the sources. @module */

export * from "../../src/integrations/openai-agents/index.ts";
