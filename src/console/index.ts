/**
 * The console: what waits for a person, what happened, and how the ledger is, in a browser.
 *
 * Subpath export `"holdfire/console"`. The command `holdfire console` serves the same on this machine.
 *
 * @module
 */

export { type ConsoleHandler, consoleHandler } from "./handler.ts";
export { nodeListener } from "./node-listener.ts";
export type { ConsoleOptions, ConsolePerson } from "./options.ts";
