/**
 * A HubSpot record, made by an upsert on a property that is our key.
 *
 * Source: developers.hubspot.com/docs/api-reference/latest/crm/objects/deals/batch/upsert-deals: "create or update records identified
 * by a unique property value". A second request makes no second record, but writes over what people have changed since: it is
 * sent only after a look that found nothing. Read by the property and never by search, whose index lags.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";
import { type HttpAnswer, HttpAnswerError } from "../../http-tool/request.ts";
import { peek } from "../../lang/peek.ts";
import { type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** All of it is the intent. Replace `intent` if a model words some of the properties. */
export interface HubspotRecordArguments {
  readonly properties: Readonly<Record<string, string>>;
}

/** A record that is there. */
export interface HubspotRecord {
  readonly id: string;
}

/** Which records, and by which property they are found. */
export interface HubspotAccess extends ServiceAccess {
  /** E.g. `deals`. */
  readonly objectType: string;
  /** A property of it whose values are unique, e.g. `holdfire_key`. */
  readonly keyProperty: string;
  /** @default "2026-03" */
  readonly version?: string | undefined;
}

/** A record of one kind. */
export function hubspotRecord(
  access: HubspotAccess,
): ToolWithInput<HubspotRecordArguments, HubspotRecordArguments, HubspotRecord> {
  const { objectType, keyProperty, version = "2026-03" } = access;
  const path = ["crm", "objects", version, objectType].map(encodeURIComponent).join("/");
  const property = encodeURIComponent(keyProperty);
  return serviceAt(access, "https://api.hubapi.com").tool({
    name: `hubspot_${objectType.toLowerCase()}`,
    service: "hubspot",
    intent: ({ properties }) => {
      // Written over, the record would not be found again, and be made twice.
      if (!Object.hasOwn(properties, keyProperty)) return { properties };
      throw new InvalidInputError(
        "args.properties",
        `must not have "${keyProperty}": it is the key's.`,
      );
    },
    path: `/${path}/batch/upsert`,
    body: ({ properties }, { key }) => ({
      inputs: [{ id: key, idProperty: keyProperty, properties }],
    }),
    find: `/${path}/{key}?idProperty=${property}&properties=${property}`,
    result: recordOf,
    // An input of a batch that was turned down is told in a 207, with its status.
    classify: (error) =>
      error instanceof HttpAnswerError && error.status === 207 ? "rejected" : undefined,
    effect: { id: ({ id }) => id },
  });
}

/** Of a batch of one, or the record itself. */
function recordOf(body: unknown, answer: HttpAnswer): HubspotRecord {
  const results = peek(body, "results");
  if (results === undefined) return { id: textAt(body, "id") };
  const made = peek(results, 0);
  if (made === undefined) throw new HttpAnswerError(answer);
  return { id: textAt(made, "id") };
}
