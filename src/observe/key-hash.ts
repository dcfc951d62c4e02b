/**
 * How a key is named where it must not be shown.
 *
 * @module
 */

import { digestText } from "../key/digest.ts";

/** Equal for equal keys, and no way back to them: what spans and log lines have in place of the key. */
export const keyHash = (key: string): string => digestText("telemetry", key);
