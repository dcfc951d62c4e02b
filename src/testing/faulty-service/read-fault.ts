/**
 * What can go wrong with a read, as values: plan them with `service.planRead(readFaults.hang())`.
 *
 * @module
 */

import type { FaultHeaders } from "./fault.ts";

export type ReadFault =
  /** This answer in place of the service's own. */
  | {
      readonly tag: "status";
      readonly status: number;
      readonly headers?: FaultHeaders | undefined;
      /** A string is sent as it is, anything else as JSON. */
      readonly body?: unknown;
    }
  /** No answer, ever; the connection stays until the client leaves. */
  | { readonly tag: "hang" }
  /** The state as it was `ms` milliseconds ago, as a replica that lags would tell it. */
  | { readonly tag: "lag"; readonly ms: number }
  /** The connection is reset. */
  | { readonly tag: "reset" };

type Of<T extends ReadFault["tag"]> = Omit<Extract<ReadFault, { tag: T }>, "tag">;

/** Makes the faults of a read. */
export const readFaults = {
  /** `status` is 503 unless given. */
  status: (options?: Partial<Of<"status">>): ReadFault => ({
    tag: "status",
    ...options,
    status: options?.status ?? 503,
  }),
  hang: (): ReadFault => ({ tag: "hang" }),
  lag: (options: Of<"lag">): ReadFault => ({ tag: "lag", ...options }),
  reset: (): ReadFault => ({ tag: "reset" }),
} as const;
