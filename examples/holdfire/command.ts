/** What `holdfire/command` is, from the sources. @module */

export * from "../../src/integrations/command/index.ts";
