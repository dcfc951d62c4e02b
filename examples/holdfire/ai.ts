/** What `holdfire/ai` is, from the sources. @module */

export * from "../../src/integrations/ai/index.ts";
