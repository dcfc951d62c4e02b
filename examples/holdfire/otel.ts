/** What `holdfire/otel` is, from the sources. @module */

export * from "../../src/observe/otel.ts";
