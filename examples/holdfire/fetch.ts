/** What `holdfire/fetch` is, from the sources. @module */

export * from "../../src/integrations/fetch/index.ts";
