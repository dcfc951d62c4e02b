/** What `holdfire/langchain` is, from the sources. @module */

export * from "../../src/integrations/langchain/index.ts";
