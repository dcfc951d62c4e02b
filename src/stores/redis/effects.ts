/**
 * Which operation owns which effect.
 *
 * In a cluster an effect and its operation may be in different buckets. Then the operation first
 * notes the effect it asks for, so that its removal finds it.
 *
 * @module
 */

import { quote } from "./layout.ts";
import { CHECK_LOSS, type Script, type Session, script } from "./session.ts";

/** KEYS: counter, effects, owned (if in the same bucket). ARGV, after the first: effect, id. */
const OWN: Script = script(`${CHECK_LOSS}
local owner = redis.call('HGET', KEYS[2], ARGV[2])
if not owner then
  owner = ARGV[3]
  redis.call('HSET', KEYS[2], ARGV[2], owner)
end
if KEYS[3] and owner == ARGV[3] then redis.call('SADD', KEYS[3], ARGV[2]) end
return {time[1], time[2], owner}
`);

/** KEYS: counter, owned. ARGV, after the first: effect. */
const NOTE: Script = script(`${CHECK_LOSS}
redis.call('SADD', KEYS[2], ARGV[2])
return {time[1], time[2]}
`);

/** KEYS: counter, effects. ARGV, after the first: effect, id. */
const RELEASE: Script = script(`${CHECK_LOSS}
if redis.call('HGET', KEYS[2], ARGV[2]) == ARGV[3] then redis.call('HDEL', KEYS[2], ARGV[2]) end
return {time[1], time[2]}
`);

/** KEYS: counter, effects. ARGV, after the first: effect. */
const FIND: Script = script(`${CHECK_LOSS}
return {time[1], time[2], redis.call('HGET', KEYS[2], ARGV[2]) or ''}
`);

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
  if (there !== here) await session.ask(here, NOTE, [owned], [effect]);
  const keys = there === here ? [effects, owned] : [effects];
  const { values } = await session.ask(there, OWN, keys, [effect, quote(id)]);
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
  const { values } = await session.ask(
    bucket,
    FIND,
    [layout.key(bucket, "effects", tenant)],
    [effect],
  );
  return values[0] ? (JSON.parse(values[0]) as string) : undefined;
}

/** Releases the effects of a removed operation that are in other buckets than the operation was. */
export async function releaseEffects(
  session: Session,
  tenant: string,
  id: string,
  effects: readonly string[],
): Promise<void> {
  const { layout } = session;
  const here = layout.bucketOf(tenant, id);
  for (const effect of effects) {
    const there = layout.bucketOf(tenant, effect);
    if (there === here) continue;
    const key = layout.key(there, "effects", tenant);
    await session.ask(there, RELEASE, [key], [effect, quote(id)]);
  }
}
