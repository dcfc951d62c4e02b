/**
 * Finds effects that no committed operation made: those that the service lists and the ledger does not have.
 *
 * @module
 */

import type { ListedEffect } from "../engine/define/definition.ts";
import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import { askStore } from "../engine/store-call.ts";
import { wireKeys } from "../key/mint.ts";
import { withTimeLimit } from "../lang/clock.ts";
import { peek, peekItems } from "../lang/peek.ts";
import { runAsLook, runWithoutToken } from "../wire/token.ts";
import type { DuplicatedFinding } from "./compare.ts";
import {
  judgeEffects,
  operationsUnder,
  recordsOf,
  type UnexpectedFinding,
} from "./effects-under-keys.ts";
import { fewAtATime } from "./few-at-a-time.ts";

const MAX_EFFECTS = 10_000;
const MAX_ID_LENGTH = 512;

/**
 * Whether something was checked; `"cannot_tell"`: the function that it needs failed, hung or returned something invalid,
 * or too much.
 */
export type Coverage = "checked" | "not_checked" | "cannot_tell";

/** An effect that the service lists and that belongs to no operation in the ledger. */
export interface ForeignFinding {
  readonly finding: "foreign";
  readonly tool: string;
  readonly service: string;
  readonly effectId: string;
  /** The key it was sent under, and when, if `effect.list` gave them. */
  readonly key?: string | undefined;
  readonly at?: number | undefined;
  /** How many operations of the service are open: one of them may have made it. */
  readonly openOperations: number;
}

type Listed = ForeignFinding | UnexpectedFinding | DuplicatedFinding;

interface Judged {
  readonly coverage: Coverage;
  readonly findings: readonly Listed[];
  /** The effects that the findings are about, and those that turned out to be in order. */
  readonly effectIds: readonly string[];
}

interface Span {
  readonly since: number;
  readonly until: number;
}

/** `isKnown` says which effects this report already has. */
export async function findForeign(
  tool: Tool,
  span: Span,
  isKnown: (service: string, effectId: string) => boolean,
  mayGoOn: () => boolean,
  engine: Engine,
): Promise<Judged> {
  if (!tool.effect.list) return { coverage: "not_checked", findings: [], effectIds: [] };
  const listed = await listEffects(tool, span, engine);
  if (!listed) return { coverage: "cannot_tell", findings: [], effectIds: [] };
  const { service, name } = tool;
  // After the list: an operation that was open when the service listed its effects is then either still
  // open, or settled and its effect is in the index.
  const open = await openOf(service, engine);
  const foreign: ForeignFinding[] = [];
  const check = async ({ effectId, key, at }: ListedEffect): Promise<void> => {
    if (isKnown(service, effectId) || (key !== undefined && open.keys.has(key))) return;
    const { store } = engine.ledger;
    const owner = await askStore(
      engine,
      "effects",
      store.ownerOf(engine.tenant, service, effectId),
    );
    if (owner !== undefined) return;
    const openOperations = open.count;
    foreign.push({ finding: "foreign", tool: name, service, effectId, key, at, openOperations });
  };
  await fewAtATime(listed, check, mayGoOn);
  const made = await operationsUnder(foreign, mayGoOn, engine);
  const findings = [...made].flatMap(([record, effects]) => judgeEffects(record, effects));
  const known = new Set([...made.values()].flat());
  return {
    coverage: mayGoOn() ? "checked" : "cannot_tell",
    findings: [...findings, ...foreign.filter((finding) => !known.has(finding))],
    effectIds: foreign.map(({ effectId }) => effectId),
  };
}

async function listEffects(
  tool: Tool,
  { since, until }: Span,
  engine: Engine,
): Promise<readonly ListedEffect[] | undefined> {
  const { effect, deadlineMs } = tool;
  const { list } = effect;
  const stop = new AbortController();
  const span = { since, until, signal: stop.signal };
  const asked = runWithoutToken(() => runAsLook(tool.name, async () => list?.(span)));
  const inTime = await withTimeLimit(engine.clock, deadlineMs, asked);
  stop.abort();
  if (inTime.tag !== "done" || !Array.isArray(inTime.value)) return undefined;
  const items = peekItems(inTime.value, MAX_EFFECTS + 1);
  const effects = items.flatMap((item) => checkEffect(item) ?? []);
  if (effects.length !== items.length || items.length > MAX_EFFECTS) return undefined;
  const inside = effects.filter(({ at }) => at === undefined || (at >= since && at < until));
  return [...new Map(inside.map((effect) => [effect.effectId, effect])).values()];
}

function checkEffect(item: unknown): ListedEffect | undefined {
  const effectId = peek(item, "effectId");
  const key = peek(item, "key");
  const at = peek(item, "at");
  if (typeof effectId !== "string" || effectId === "" || effectId.length > MAX_ID_LENGTH) {
    return undefined;
  }
  return {
    effectId,
    key: typeof key === "string" ? key.slice(0, MAX_ID_LENGTH) : undefined,
    at: typeof at === "number" && Number.isFinite(at) ? at : undefined,
  };
}

/** The keys of open operations: an effect sent under one of them is not foreign. */
async function openOf(
  service: string,
  engine: Engine,
): Promise<{ readonly keys: ReadonlySet<string>; readonly count: number }> {
  const keys = new Set<string>();
  let count = 0;
  for await (const record of recordsOf({ states: ["unknown", "claimed"] }, engine)) {
    if (record.service !== service) continue;
    count += 1;
    for (const key of wireKeys(record.id, record.generation)) keys.add(key);
  }
  return { keys, count };
}
