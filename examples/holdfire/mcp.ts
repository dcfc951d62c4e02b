/** What `holdfire/mcp` is, from the sources. @module */

export * from "../../src/adapters/mcp.ts";
