/**
 * The table in `docs/gateway.md`: what the run has counted.
 *
 * @module
 */

import manifest from "../../../package.json" with { type: "json" };
import { markdownOf } from "../../table-in-page.ts";
import { LIBRARIES, type Library } from "./client.ts";
import { COLUMNS, type Column } from "./columns.ts";

/** Payments without the gateway and with it. */
export interface Counted {
  readonly library: Library;
  readonly column: Column;
  readonly bare?: number | undefined;
  readonly gateway: number;
}

const VERSIONS: Readonly<Record<string, string>> = manifest.devDependencies;

export function tableOf(counted: readonly Counted[]): string {
  const rows = LIBRARIES.map((library) => [
    `${library.title}, \`${library.package}\` ${VERSIONS[library.package]}`,
    ...COLUMNS.map((column) => {
      const one = counted.find((each) => each.library === library && each.column === column);
      return one ? cellOf(one) : "";
    }),
  ]);
  return markdownOf([["Client", ...COLUMNS.map(({ title }) => title)], ...rows]);
}

function cellOf({ library, column, bare, gateway }: Counted): string {
  const { fault, told, person } = column;
  if (fault) return `${bare} → ${gateway}, ${told === "answer" ? "the answer" : "`unknown`"}`;
  if (!person) return String(gateway);
  if (library.elicits) return `${gateway}, asked by the client`;
  return person === "yes" ? `${gateway}, \`holdfire_do_again\`` : `${gateway}, "already done"`;
}
