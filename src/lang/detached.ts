/**
 * The async context of nobody's call, for work that no caller asked for. Whoever happens to start it (a
 * listener, a timer, a tool) may stand inside a call of somebody else, whose context must not go out with it.
 *
 * Taken when this file is loaded, so `create.ts` imports it statically: what is loaded late may be loaded
 * inside a call.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

export const runDetached: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot();
