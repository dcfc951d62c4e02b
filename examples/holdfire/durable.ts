/** What `holdfire/durable` is, from the sources. @module */

export * from "../../src/integrations/durable/index.ts";
