/**
 * Who has which effect. In a cluster an effect and its operation live apart: then the operation
 * first notes what it is about to ask for, so that its removal finds it.
 *
 * @module
 */

import { quote } from "./layout.ts";
import { SAME_LEDGER, type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: counter, effects, owned (if in reach). ARGV: effect, id. */
const own = script(`${SAME_LEDGER}
local owner = redis.call('HGET', KEYS[2], ARGV[1])
if not owner then
  owner = ARGV[2]
  redis.call('HSET', KEYS[2], ARGV[1], owner)
end
if KEYS[3] and owner == ARGV[2] then redis.call('SADD', KEYS[3], ARGV[1]) end
return {'ok', time[1], time[2], owner}
`);

/** KEYS: counter, owned. ARGV: effect. */
const note = script(`${SAME_LEDGER}
redis.call('SADD', KEYS[2], ARGV[1])
return {'ok', time[1], time[2]}
`);

/** KEYS: counter, effects. ARGV: effect, id. */
const disown = script(`${SAME_LEDGER}
if redis.call('HGET', KEYS[2], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[2], ARGV[1]) end
return {'ok', time[1], time[2]}
`);

/** KEYS: counter, effects. ARGV: effect. */
const find = script(`${SAME_LEDGER}
return {'ok', time[1], time[2], redis.call('HGET', KEYS[2], ARGV[1]) or ''}
`);

export const EFFECTS: readonly Script[] = [own, note, disown, find];

export async function ownEffect(
  session: Session,
  tenant: string,
  service: string,
  effectId: string,
  id: string,
): Promise<string> {
  const { layout } = session;
  const effect = quote(service) + quote(effectId);
  const [there, here] = [layout.bucketOf(tenant, effect), layout.bucketOf(tenant, id)];
  const effects = layout.key(there, "effects", tenant);
  const owned = layout.key(here, "owned", tenant, id);
  if (there !== here) await session.ask(here, note, [owned], [effect]);
  const keys = there === here ? [effects, owned] : [effects];
  const { values } = await session.ask(there, own, keys, [effect, quote(id)]);
  return JSON.parse(values[0] ?? "") as string;
}

export async function ownerOfEffect(
  session: Session,
  tenant: string,
  service: string,
  effectId: string,
): Promise<string | undefined> {
  const { layout } = session;
  const effect = quote(service) + quote(effectId);
  const bucket = layout.bucketOf(tenant, effect);
  const key = layout.key(bucket, "effects", tenant);
  const { values } = await session.ask(bucket, find, [key], [effect]);
  return values[0] ? (JSON.parse(values[0]) as string) : undefined;
}

/** Frees the effects of a removed operation that are kept in other buckets. */
export async function letGo(
  session: Session,
  tenant: string,
  id: string,
  effects: readonly string[],
): Promise<void> {
  const { layout } = session;
  const here = layout.bucketOf(tenant, id);
  await Promise.all(
    effects
      .map((effect) => ({ effect, there: layout.bucketOf(tenant, effect) }))
      .filter(({ there }) => there !== here)
      .map(({ effect, there }) =>
        session.ask(there, disown, [layout.key(there, "effects", tenant)], [effect, quote(id)]),
      ),
  );
}
