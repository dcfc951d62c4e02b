/**
 * A Salesforce record, made by an upsert on an external id that is our key.
 *
 * Source: developer.salesforce.com, REST API Developer Guide, "Insert or Update (Upsert) a Record Using an External ID": not matched
 * is created (201), matched once is updated, matched more than once is 300 and nothing is done. So a second request makes no
 * second record, but it writes over what people have changed since: it is sent only after a look that found nothing.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import type { Json } from "../../key/json.ts";
import { maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** All of it is the intent. Replace `intent` if a model words some of the fields. */
export interface SalesforceRecordArguments {
  readonly fields: { readonly [name: string]: Json };
}

/** A record that is there. */
export interface SalesforceRecord {
  readonly id: string;
}

/** Which records, and by which field they are found. */
export interface SalesforceAccess extends ServiceAccess {
  /** Your instance, e.g. `https://acme.my.salesforce.com`. */
  readonly baseUrl: string;
  /** The object, e.g. `Case`. */
  readonly object: string;
  /** A text field of it that is External ID and Unique, e.g. `Holdfire_Key__c`. */
  readonly keyField: string;
  /** @default "v64.0" */
  readonly version?: string | undefined;
}

/** A record of one kind. */
export function salesforceRecord(
  access: SalesforceAccess,
): ToolWithInput<SalesforceRecordArguments, SalesforceRecordArguments, SalesforceRecord> {
  const { object, keyField, version = "v64.0" } = access;
  const parts = ["services", "data", version, "sobjects", object, keyField].map(encodeURIComponent);
  const path = `/${parts.join("/")}/{key}`;
  return serviceAt(access, access.baseUrl).tool({
    name: `salesforce_${object.toLowerCase()}`,
    service: "salesforce",
    method: "PATCH",
    path,
    body: ({ fields }) => fields,
    find: path,
    result: (body) => ({ id: maybeTextAt(body, "id") ?? textAt(body, "Id") }),
    effect: { id: ({ id }) => id },
  });
}
