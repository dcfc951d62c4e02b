/** What `holdfire/mcp` is, from the sources. @module */

export * from "../../src/integrations/mcp/index.ts";
