/**
 * AWS Lambda Powertools idempotency. It ships no store in memory, so this is the custom persistence
 * layer of its documentation, over a `Map`: the least it can cost.
 *
 * @module
 */

import {
  IdempotencyConfig,
  IdempotencyItemAlreadyExistsError,
  IdempotencyItemNotFoundError,
  makeIdempotent,
} from "@aws-lambda-powertools/idempotency";
import {
  BasePersistenceLayer,
  type IdempotencyRecord,
} from "@aws-lambda-powertools/idempotency/persistence";
import { type Effect, type Guard, type OpenGuard, type Order, requestOf } from "../guard.ts";

/** A class, because Powertools takes no other form. */
class MemoryLayer extends BasePersistenceLayer {
  readonly #records = new Map<string, IdempotencyRecord>();

  protected override async _putRecord(record: IdempotencyRecord): Promise<void> {
    const existing = this.#records.get(record.idempotencyKey);
    if (existing && !existing.isExpired()) {
      throw new IdempotencyItemAlreadyExistsError("The record exists.", existing);
    }
    this.#records.set(record.idempotencyKey, record);
  }

  protected override async _getRecord(key: string): Promise<IdempotencyRecord> {
    const record = this.#records.get(key);
    if (!record) throw new IdempotencyItemNotFoundError("There is no such record.");
    return record;
  }

  protected override async _updateRecord(record: IdempotencyRecord): Promise<void> {
    this.#records.set(record.idempotencyKey, record);
  }

  protected override async _deleteRecord(record: IdempotencyRecord): Promise<void> {
    this.#records.delete(record.idempotencyKey);
  }
}

export const open: OpenGuard = async (effect) => guardWith(effect, new MemoryLayer());

export function guardWith(
  effect: Effect,
  persistenceStore: BasePersistenceLayer,
  close: () => unknown = () => {},
): Guard {
  const config = new IdempotencyConfig({});
  // Without a context it prints a warning on each call, and that is all one would measure.
  config.registerLambdaContext({ getRemainingTimeInMillis: () => 60_000 } as Parameters<
    typeof config.registerLambdaContext
  >[0]);
  const place = makeIdempotent(
    async ({ order }: { readonly request: string; readonly order: Order }) => effect(order),
    { persistenceStore, config },
  );
  return {
    call: (order) => place({ request: requestOf(order), order }),
    async close() {
      await close();
    },
  };
}
