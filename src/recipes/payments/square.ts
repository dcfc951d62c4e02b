/**
 * A Square payment. The key goes out as `idempotency_key` and as `reference_id`, by which the payment is found in the list.
 *
 * How long Square knows a key is not published (developer.squareup.com/forums/t/…/28303, an answer of its staff), so nothing is sent
 * again on the strength of it. The list may lag; how far is not published either.
 *
 * @module
 */

import { isKeyError } from "../../classify/key-error.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import { readingByStanding, type Standing } from "../../http-tool/standing.ts";
import { peek } from "../../lang/peek.ts";
import { earliest, foundIn, type LagOptions, readPages } from "../read-list.ts";
import { listAt, maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** As the API takes them. The note and the source, which is good for one use, are no part of the intent. */
export interface SquarePaymentArguments {
  readonly source_id: string;
  /** `amount` in the smallest unit of the currency. */
  readonly amount_money: { readonly amount: number; readonly currency: string };
  readonly location_id: string;
  readonly customer_id?: string;
  /** Whether the money is taken at once. @default true */
  readonly autocomplete?: boolean;
  readonly note?: string;
}

/** A payment of this amount, by this customer, is wanted once. */
export type SquarePaymentIntent = Omit<SquarePaymentArguments, "source_id" | "note">;

/** A payment that Square has. */
export interface SquarePayment {
  readonly id: string;
  readonly status: string;
}

/** A payment. */
export function squarePayment(
  access: ServiceAccess & LagOptions,
): ToolWithInput<SquarePaymentArguments, SquarePaymentIntent, SquarePayment> {
  const path = "/v2/payments";
  const lags = !access.windowCoversLag;
  const service = serviceAt(access, "https://connect.squareup.com");
  return service.tool({
    name: "square_payment",
    service: "square",
    intent: ({ source_id: _, note: __, ...intent }) => intent,
    path,
    body: (args, { key }) => ({ ...args, idempotency_key: key, reference_id: key }),
    result: (body) => paymentOf(peek(body, "payment")),
    standing: paymentStanding,
    // Square reports a key that was used for another payment with 400; whether that one took money, it does not say.
    classify: (error) => (isKeyError(error) ? "unknown" : undefined),
    readState: async ({ intent, keys, firstSentAt, signal }) => {
      const begin_time = new Date(earliest(firstSentAt)).toISOString();
      const asked = { begin_time, location_id: intent.location_id, limit: "100" };
      const read = await readPages<unknown, string>(
        async (cursor) => {
          const query = { ...asked, cursor };
          const { body } = await service.call({ method: "GET", path, query, signal });
          // Without a payment there is no list.
          const items = peek(body, "payments") === undefined ? [] : listAt(body, "payments");
          return { items, next: maybeTextAt(body, "cursor") || undefined };
        },
        (payment) => keys.includes(maybeTextAt(payment, "reference_id") ?? ""),
      );
      const found = foundIn({ ...read, found: read.found.map(paymentOf) }, { lags });
      return readingByStanding(found, (payment) => paymentStanding(payment, intent), idOf);
    },
    effect: { id: idOf },
  });
}

const idOf = ({ id }: SquarePayment): string => id;

const paymentOf = (payment: unknown): SquarePayment => ({
  id: textAt(payment, "id"),
  status: textAt(payment, "status"),
});

/** APPROVED: authorised, and the money is taken later. Source: developer.squareup.com/reference/square/objects/Payment, `status`. */
function paymentStanding({ status }: SquarePayment, intent: SquarePaymentIntent): Standing {
  if (status === "COMPLETED") return "done";
  if (status === "APPROVED") return intent.autocomplete === false ? "done" : "in_progress";
  if (status === "PENDING") return "in_progress";
  return status === "FAILED" ? "declined" : "open";
}
