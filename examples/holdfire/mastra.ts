/** What `holdfire/mastra` is, from the sources. @module */

export * from "../../src/integrations/mastra/index.ts";
