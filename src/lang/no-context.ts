/**
 * An async context outside of every call, for work that no caller asked for. Whatever happens to start it (a
 * listener, a timer, a tool) may run inside a call, whose context must not be carried along.
 *
 * Taken when this file is loaded, so it is imported statically by all who need it: what is loaded late may be
 * loaded inside a call.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

export const runWithoutContext: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot();
