/** What `holdfire` is, from the sources. @module */

export * from "../../src/index.ts";
