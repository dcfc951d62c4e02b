/**
 * One effect of a proof: named as the engine would name it, and fired by hand.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { isResponse } from "../../classify/answer.ts";
import { lookAt } from "../../classify/thrown.ts";
import { intentOf } from "../../engine/call/name-operation.ts";
import { checkArguments } from "../../engine/define/schema.ts";
import type { Tool } from "../../engine/define/tool.ts";
import { InvalidInputError } from "../../errors.ts";
import { canonicalize } from "../../key/canonical.ts";
import type { Json } from "../../key/json.ts";
import { mintId, wireKey } from "../../key/mint.ts";
import { enterOperation } from "../../key/scope.ts";
import { type Clock, systemClock, withTimeLimit } from "../../lang/clock.ts";

export interface Probe {
  readonly args: Json;
  readonly intent: Json;
  readonly key: string;
  /** When it was first fired, or would have been, by the clock's wall time. */
  readonly firstSentAt: number;
  /** What the service will compare; asked once, and the same for every firing. */
  readonly precondition: () => Promise<Json | undefined>;
}

/** What one firing of `run` came to. */
type RunEnd =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

export interface Sent {
  readonly ended: RunEnd;
  readonly tookKey: boolean;
  /** By the clock's monotonic time. */
  readonly endedAt: number;
}

/** Makes probes, and sees to it that no two want the same. */
export function createProber(tool: Tool, args: () => unknown, clock: Clock): () => Promise<Probe> {
  const scope = `proof-${randomUUID()}`;
  const wanted = new Set<string>();
  return async () => {
    const checked = await checkArguments(tool.name, tool.input, await args());
    const given = canonicalize(checked, "args");
    const { value } = given;
    const { value: intent, text } = intentOf(tool, given);
    if (wanted.has(text)) {
      throw new InvalidInputError(
        "sandbox.args",
        "must return arguments for another effect each time.",
      );
    }
    wanted.add(text);
    let fixed: Promise<Json | undefined> | undefined;
    return {
      args: value,
      intent,
      key: wireKey(
        mintId({ app: undefined, tenant: "proof", scope, tool: tool.name, intent: text }),
        0,
      ),
      firstSentAt: clock.now(),
      precondition() {
        fixed ??= Promise.resolve(tool.precondition?.(value) as Json | undefined);
        return fixed;
      },
    };
  };
}

/** Fires once, for as long as an attempt may take. Never throws. */
export async function send(tool: Tool, probe: Probe, attempt: number, clock: Clock): Promise<Sent> {
  const stop = new AbortController();
  let tookKey = false;
  const fire = async (): Promise<RunEnd> => {
    const precondition = await probe.precondition();
    const context = {
      get key() {
        tookKey = true;
        return probe.key;
      },
      precondition,
      attempt,
      signal: stop.signal,
      fetch: globalThis.fetch,
    };
    return enterOperation(probe.key, async () => endingOf(await tool.run(probe.args, context)));
  };
  const fired = await withTimeLimit(systemClock, tool.attemptTimeoutMs, fire());
  stop.abort();
  const ended: RunEnd =
    fired.tag === "done"
      ? fired.value
      : { ok: false, why: fired.tag === "late" ? "it took too long" : whyOf(fired.error) };
  return { ended, tookKey, endedAt: clock.monotonic() };
}

async function endingOf(value: unknown): Promise<RunEnd> {
  if (!isResponse(value)) return { ok: true, value };
  const { status, ok } = value;
  if (!ok) return { ok: false, why: `status ${status}` };
  return { ok: true, value: { status, body: await value.text() } };
}

/** An error in one line: what the service answered, else the code, else the message. */
function whyOf(error: unknown): string {
  const { status, code } = lookAt(error);
  if (status !== undefined) return `status ${status}`;
  const message = error instanceof Error ? error.message : String(error);
  return code ?? message.slice(0, 200);
}
