/**
 * What every case has in common: an order to place, the function that places
 * it, and a guard around that function.
 *
 * @module
 */

/** The arguments of one call. The same `n` again is the same call. */
export interface Order {
  readonly n: number;
  readonly to: string;
  readonly cents: number;
  readonly note: string;
}

export interface Receipt {
  readonly id: string;
  readonly n: number;
}

/** The function under guard: it does nothing but count, so that what is measured is the guard. */
export type Effect = (order: Order) => Promise<Receipt>;

export interface Guard {
  call(order: Order): Promise<Receipt>;
  close(): Promise<void>;
}

/** Where a guard may keep things. The bench removes all of it at the end. */
export interface Place {
  readonly folder: string;
  /** Of letters, digits and `_`; another one for each case. */
  readonly name: string;
  readonly redisUrl: string;
  readonly postgresUrl: string;
  /** Where the numbers of orders begin: of processes that share a place, each has its own. */
  readonly firstOrder?: number | undefined;
}

export type OpenGuard = (effect: Effect, place: Place) => Promise<Guard>;

export const newOrder = (n: number): Order => ({
  n,
  to: "ana@example.com",
  cents: 1_200,
  note: "Replacement for a lamp that arrived broken.",
});

/** What all guards call the request that an order belongs to. */
export const requestOf = ({ n }: Order): string => `request-${n}`;
