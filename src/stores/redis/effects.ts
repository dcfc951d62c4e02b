/**
 * Who has which effect. In a cluster an effect and its operation live apart: then the operation
 * first notes what it is about to ask for, so that its removal finds it.
 *
 * @module
 */

import { glue, quote } from "./layout.ts";
import { type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: head, effects, owned (if in reach). ARGV: bucket, effect, id. */
const own = script(`
local owner = redis.call('HGET', KEYS[2], ARGV[2])
if not owner then
  owner = ARGV[3]
  redis.call('HSET', KEYS[2], ARGV[2], owner)
end
if KEYS[3] and owner == ARGV[3] then redis.call('SADD', KEYS[3], ARGV[2]) end
return {'ok', owner}
`);

/** KEYS: head, owned. ARGV: bucket, effect. */
const note = script(`
redis.call('SADD', KEYS[2], ARGV[2])
return {'ok'}
`);

/** KEYS: head, effects. ARGV: bucket, effect, id. */
const disown = script(`
if redis.call('HGET', KEYS[2], ARGV[2]) == ARGV[3] then redis.call('HDEL', KEYS[2], ARGV[2]) end
return {'ok'}
`);

/** KEYS: head, effects. ARGV: bucket, effect. */
const find = script(`
return {'ok', redis.call('HGET', KEYS[2], ARGV[2]) or ''}
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
  const effect = glue([service, effectId]);
  const [there, here] = [layout.bucketOf(tenant, effect), layout.bucketOf(tenant, id)];
  const effects = layout.key(there, "effects", tenant);
  const owned = layout.key(here, "owned", tenant, id);
  if (there !== here) await session.ask(here, note, [owned], [effect]);
  const keys = there === here ? [effects, owned] : [effects];
  const [, owner = ""] = await session.ask(there, own, keys, [effect, quote(id)]);
  return JSON.parse(owner) as string;
}

export async function ownerOfEffect(
  session: Session,
  tenant: string,
  service: string,
  effectId: string,
): Promise<string | undefined> {
  const { layout } = session;
  const effect = glue([service, effectId]);
  const bucket = layout.bucketOf(tenant, effect);
  const key = layout.key(bucket, "effects", tenant);
  const [, owner = ""] = await session.ask(bucket, find, [key], [effect]);
  return owner === "" ? undefined : (JSON.parse(owner) as string);
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
