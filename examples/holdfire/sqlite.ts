/** What `holdfire/sqlite` is, from the sources. @module */

export * from "../../src/stores/sqlite/index.ts";
