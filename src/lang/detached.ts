/**
 * Runs background work outside the async context of any call. The code that starts it (a listener,
 * a timer, a tool) may run inside another call, and the work must not inherit that call's context.
 *
 * The context is captured when this file is loaded, so `create.ts` imports it statically: a file
 * that is loaded lazily may be loaded inside a call.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

export const runDetached: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot();
