/**
 * `holdfire ls`: the operations of a ledger, the oldest first.
 *
 * @module
 */

import { scopeFrom } from "../../describe/decision-facts.ts";
import type { OperationQuery, OperationView } from "../../engine/admin/operations.ts";
import type { StateTag } from "../../ledger/record.ts";
import { type Command, defineCommand, EXIT, LEDGER, UsageError } from "../command.ts";
import { timeOf, wholeNumberOf } from "../parse.ts";
import {
  jsonText,
  paintStatus,
  showDuration,
  type Terminal,
  tableLines,
  visible,
} from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";
import { tellUnreadable } from "./operations.ts";

const STATES: readonly StateTag[] = [
  "held",
  "claimed",
  "unknown",
  "committed",
  "not_applied",
  "denied",
];

export const ls: Command = defineCommand({
  name: "ls",
  summary: "Lists operations, the oldest first.",
  takes: [],
  about: [
    "One line for each operation of the tenant: its key, its status, since when, how often it was fired, its tool and scope.",
  ],
  options: {
    ...LEDGER,
    open: { type: "boolean", about: "Only those that are not settled." },
    status: {
      type: "string",
      multiple: true,
      value: "STATUS",
      about: `Only these: ${STATES.join(", ")}.`,
    },
    tool: { type: "string", value: "NAME", about: "Only of this tool." },
    scope: { type: "string", value: "ID", about: "Only of this scope." },
    resource: { type: "string", value: "NAME", about: "Only on this resource." },
    since: { type: "string", value: "WHEN", about: "Reached its state since: 24h, or a date." },
    until: { type: "string", value: "WHEN", about: "Reached its state before." },
    limit: { type: "string", value: "N", about: "At most this many. Default 100." },
    cursor: { type: "string", value: "TEXT", about: "Goes on where an earlier list ended." },
  },
  run: ({ values }, terminal) => {
    const now = terminal.now();
    const query: OperationQuery = {
      open: values.open,
      status: values.status.length > 0 ? values.status.map(stateOf) : undefined,
      tool: values.tool,
      scope: values.scope === undefined ? undefined : scopeFrom(values.scope),
      resource: values.resource,
      since: timeOf("since", values.since, now),
      until: timeOf("until", values.until, now),
      limit: wholeNumberOf("limit", values.limit, { max: 1_000 }) ?? 100,
      cursor: values.cursor,
    };
    return withLedger(values, terminal, async (hf) => {
      const page = await hf.operations.list(query);
      if (values.json) terminal.out(jsonText(page));
      else print(page.items, page.cursor, terminal);
      tellUnreadable(page, terminal);
      return EXIT.ok;
    });
  },
});

function stateOf(text: string): StateTag {
  const found = STATES.find((state) => state === text);
  if (found) return found;
  throw new UsageError(`--status cannot be "${visible(text)}".`, `It takes ${STATES.join(", ")}.`);
}

function print(
  items: readonly OperationView[],
  cursor: string | undefined,
  terminal: Terminal,
): void {
  if (items.length === 0) {
    terminal.err("No operations.");
    return;
  }
  const now = terminal.now();
  const rows = items.map((operation) => [
    operation.key,
    paintStatus(operation, terminal),
    showDuration(now - operation.at),
    String(operation.fired),
    visible(operation.tool, 40),
    visible(operation.scope, 60),
  ]);
  const columns = [
    { title: "key" },
    { title: "status" },
    { title: "since", align: "right" },
    { title: "fired", align: "right" },
    { title: "tool" },
    { title: "scope" },
  ] as const;
  for (const line of tableLines(columns, rows)) terminal.out(line);
  if (cursor !== undefined) terminal.err(`There are more: add --cursor ${visible(cursor)}`);
}
