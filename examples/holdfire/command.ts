/** What `holdfire/command` is, from the sources. @module */

export * from "../../src/adapters/command.ts";
