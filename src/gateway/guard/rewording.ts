/**
 * Which earlier calls a call may be in other words. A model that was told that the outcome of a call is unknown may word
 * its wish anew; what was wanted once would then be done twice.
 *
 * A host tells neither the turn nor the step of a model, and its thread has no end. So a call is compared only with
 * those of its tool that were told as open before it came, a short while ago, and only if the two have something in
 * common: the arguments that the rule says a call is about, else any argument. One unknown call does not stop a tool.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { canonicalize } from "../../key/canonical.ts";
import { putBounded } from "../../lang/bounded.ts";
import { fieldsOf } from "../pipe/message.ts";
import { hasOnlyErrors } from "./send-call.ts";

export interface Compared {
  readonly thread: string;
  /** The name of the tool in the ledger. */
  readonly name: string;
  readonly intent: unknown;
  /** The arguments that say what a call is about. @default any argument in common */
  readonly about: readonly string[] | undefined;
  /** An error ends a call of this tool, in the server's own words: nothing is told as unknown. */
  readonly errorEnds: boolean;
}

export interface Rewordings {
  /** The host was told that the outcome of this call is open. */
  noteOpen(call: Compared, operation: string): void;
  /** The operations that the call may be in other words. */
  of(call: Compared): Promise<readonly string[]>;
}

export interface RewordingOptions {
  readonly hf: Holdfire;
  readonly withinMs: number;
  /** On the ledger's clock. */
  readonly now: () => number;
}

/** A call that was told as open. */
interface OpenCall {
  /** `undefined`: it cannot be read here. */
  readonly intent: unknown;
  readonly at: number;
}

/** Of one tool in one thread; the oldest are forgotten. */
const MOST_OPEN = 100;
const MOST_TOOLS = 1_000;

export function createRewordings({ hf, withinMs, now }: RewordingOptions): Rewordings {
  const tools = new Map<string, Promise<Map<string, OpenCall>>>();

  /** What gateways before this one have told. */
  async function leftBehind(call: Compared): Promise<Map<string, OpenCall>> {
    const { thread: scope, name: tool, errorEnds } = call;
    const since = now() - withinMs;
    const query = { scope, tool, since, status: ["unknown"], limit: MOST_OPEN } as const;
    const { items } = await hf.operations.list(query);
    const found = await Promise.all(items.map(({ id }) => hf.operations.get(id)));
    return new Map(
      found.flatMap((view) => {
        if (!view || (errorEnds && hasOnlyErrors(view))) return [];
        return [[view.id, { intent: view.intent, at: view.at }]];
      }),
    );
  }

  function openCallsOf(call: Compared): Promise<Map<string, OpenCall>> {
    const row = `${call.thread}\u001f${call.name}`;
    const known = tools.get(row);
    if (known) return known;
    const reading = leftBehind(call);
    putBounded(tools, row, reading, MOST_TOOLS);
    reading.catch(() => tools.delete(row));
    return reading;
  }

  return {
    noteOpen(call, operation) {
      const at = now();
      void openCallsOf(call).then(
        (open) => {
          putBounded(open, operation, { intent: call.intent, at }, MOST_OPEN);
        },
        // The ledger has it, for whoever asks next.
        () => {},
      );
    },
    async of(call) {
      const open = await openCallsOf(call);
      const since = now() - withinMs;
      return [...open]
        .filter(([, { at, intent }]) => at > since && mayBeSame(intent, call.intent, call.about))
        .map(([operation]) => operation);
    },
  };
}

function mayBeSame(
  earlier: unknown,
  intent: unknown,
  about: readonly string[] | undefined,
): boolean {
  if (earlier === undefined) return true;
  const [one, other] = [fieldsOf(earlier), fieldsOf(intent)];
  const same = (name: string) => saidBy(one[name]) === saidBy(other[name]);
  if (about) return about.every(same);
  return Object.keys(one).some((name) => saidBy(one[name]) !== undefined && same(name));
}

/** As text; `undefined` for what many calls have in common by chance: nothing, true, false. */
function saidBy(value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === "boolean") return undefined;
  const { text } = canonicalize(typeof value === "string" ? value.trim() : value, "arguments");
  return text === '""' || text === "[]" || text === "{}" ? undefined : text;
}
