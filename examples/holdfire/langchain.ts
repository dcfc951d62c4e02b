/** What `holdfire/langchain` is, from the sources. @module */

export * from "../../src/clients/langchain.ts";
