/**
 * What a program prints, up to a bound, and what it says by that: JSON where it is JSON, the effect it names, and the plan
 * of a dry run.
 *
 * @module
 */

import type { Readable } from "node:stream";
import type { Plan, PlannedChange } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";
import type { Json } from "../../key/json.ts";
import { tryCall } from "../../lang/peek.ts";
import type { Effect } from "../../reasons.ts";

export type Printed = { readonly truncated: boolean } & (
  | { readonly text: string; readonly base64?: undefined }
  | { readonly text?: undefined; readonly base64: string }
);

export const NOTHING_PRINTED: Printed = { text: "", truncated: false };

/** Goes on reading past the limit, so that the program does not hang, and forgets what it reads. */
export function collect(stream: Readable, limit: number): () => Printed {
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  stream.on("data", (chunk: Buffer) => {
    const room = limit - size;
    if (chunk.length > room) truncated = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    chunks.push(kept);
    size += kept.length;
  });
  // A broken pipe is the end of what was said.
  stream.on("error", () => {});
  return () => printed(Buffer.concat(chunks), truncated, limit);
}

function printed(bytes: Buffer, truncated: boolean, limit: number): Printed {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    // The bound may cut a character in two; that part of one is left out.
    return { text: decoder.decode(bytes, { stream: truncated }), truncated };
  } catch {
    // Base64 is longer than its bytes: the bound holds for what is kept.
    const kept = bytes.subarray(0, Math.floor(limit / 4) * 3);
    return { base64: kept.toString("base64"), truncated: truncated || kept.length < bytes.length };
  }
}

/** As one text: bytes stand in it as a data URL. */
export const asText = ({ text, base64 }: Printed): string =>
  text ?? `data:application/octet-stream;base64,${base64}`;

/** What a call of a program gives. */
export interface CommandResult {
  readonly exitCode: number;
  /** What it printed, if that was JSON. */
  readonly json?: Json | undefined;
  /** What it printed, if that was text but no JSON. */
  readonly text?: string | undefined;
  /** What it printed, in base64, if that was not UTF-8. */
  readonly base64?: string | undefined;
  /** It printed more than was kept. */
  readonly truncated?: true | undefined;
}

export function resultOf(exitCode: number, { text, base64, truncated }: Printed): CommandResult {
  const shown = text === undefined ? { exitCode, base64 } : { exitCode, text };
  if (truncated) return { ...shown, truncated };
  const json = tryCall(JSON, "parse", text) as Json | undefined;
  return json === undefined ? shown : { exitCode, json };
}

const ACTIONS = { created: "create", updated: "update", deleted: "delete" } as const;

/** `effect` of the JSON it printed: `created`, `updated`, `deleted` or `noop`. */
export function effectOf({ json }: CommandResult): Effect | undefined {
  const effect = field(json, "effect");
  return effect === "noop" || isChange(effect) ? effect : undefined;
}

const isChange = (effect: unknown): effect is keyof typeof ACTIONS =>
  typeof effect === "string" && Object.hasOwn(ACTIONS, effect);

function field(json: Json | undefined, name: string): Json | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  return Object.hasOwn(json, name) ? (json as Readonly<Record<string, Json>>)[name] : undefined;
}

/**
 * What a dry run printed, as a plan: its `changes`, else its `effect`, else all of it as text for the
 * person to read. What does not say in which way it would change things is shown as the worst.
 */
export function planOf(result: CommandResult, program: string): Plan {
  const at = `the dry run of ${program}`;
  if (result.truncated) {
    throw new InvalidInputError(at, "must be shown whole: it is longer than maxOutputBytes.");
  }
  if (result.base64 !== undefined) throw new InvalidInputError(at, "must print UTF-8.");
  const changes = field(result.json, "changes");
  // Checked, as every plan, before a person is shown it.
  if (changes !== undefined) return { changes: changes as unknown as PlannedChange[] };
  const effect = effectOf(result);
  if (effect === undefined && field(result.json, "effect") !== undefined) {
    throw new InvalidInputError(at, "must name an effect: created, updated, deleted or noop.");
  }
  if (effect === "noop") return { changes: [] };
  const after = result.json ?? result.text ?? null;
  if (effect) return { changes: [{ type: ACTIONS[effect], target: program, after }] };
  const target = `anything: ${program} does not say what it would change`;
  return { changes: [{ type: "delete", target, after }] };
}
