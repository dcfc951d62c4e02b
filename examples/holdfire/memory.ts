/** What `holdfire/memory` is, from the sources. @module */

export * from "../../src/stores/memory.ts";
