/** What `holdfire/anthropic` is, from the sources. @module */

export * from "../../src/integrations/anthropic/index.ts";
