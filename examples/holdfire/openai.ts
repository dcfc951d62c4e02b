/** What `holdfire/openai` is, from the sources. @module */

export * from "../../src/integrations/openai/index.ts";
