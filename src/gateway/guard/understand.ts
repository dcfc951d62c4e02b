/**
 * From a request of the host to a call: which tool, in which thread, with what, and how it is treated.
 *
 * A thread is whose calls belong together: the label given at install, the person at this machine, the server, the folder
 * that it is started in, and the conversation where the host names it.
 *
 * @module
 */

import { keyNamesOf, withoutMadeUp } from "../../integrations/shared/tools/hidden-key.ts";
import { canonicalize } from "../../key/canonical.ts";
import { digestText } from "../../key/digest.ts";
import { peek } from "../../lang/peek.ts";
import { shortened } from "../long-arguments.ts";
import { withoutOurs } from "../people/people.ts";
import { type Fields, fieldsOf, plainOf } from "../pipe/message.ts";
import type { Call } from "./call.ts";
import { rowName } from "./call-rows.ts";
import { withoutRound } from "./flight.ts";
import type { Operations } from "./operations.ts";
import type { GatewayRule, Repeat } from "./rules.ts";
import type { ServerTools } from "./server-tools.ts";
import { treatmentOf } from "./treatment.ts";

export interface Understanding {
  readonly tools: ServerTools;
  readonly operations: Operations;
  readonly whose: Whose;
  readonly rule: (tool: string) => GatewayRule;
  readonly repeat: Repeat;
  /** The server has the draft field for the key. */
  readonly hasKeyField: () => boolean;
}

/** What a call needs of the request under way. */
export interface Asking {
  readonly signal: AbortSignal;
  readonly askHost: (row: string, result: Fields) => Promise<Fields>;
}

/** `pass`: it only reads, and goes through as it is. */
export async function understand(
  request: Fields,
  { signal, askHost }: Asking,
  { tools, operations, whose, rule, repeat, hasKeyField }: Understanding,
): Promise<Call | "pass"> {
  const params = withoutRound(withoutOurs(request));
  const name = String(params.name);
  const { tool, changed } = await tools.find(name);
  const said = rule(name);
  const treatment = treatmentOf({ tool, rule: said, changed, repeat });
  if (treatment.tag === "pass") return "pass";
  const thread = threadOf(whose, conversationOf(params._meta));
  const names = keyNamesOf(tool?.inputSchema);
  const given = without(fieldsOf(params.arguments), said.keyField ?? names.property);
  const args = shortened(withoutMadeUp(plainOf(given), names));
  const intent = said.intent ? only(fieldsOf(args), said.intent) : args;
  const { text } = canonicalize(intent, "arguments");
  const fullName = operations.nameOf(name);
  const row = rowName(thread, fullName, text);
  return {
    tool: name,
    row,
    thread,
    name: fullName,
    args,
    intent,
    about: said.about,
    errorEnds: treatment.errorEnds,
    treatment,
    signal,
    define: () => tools.findNow(name),
    isSecond: false,
    size: text.length,
    sending: {
      params: { ...params, arguments: withoutMadeUp(given, names) },
      tool,
      keyField: said.keyField,
      hasKeyField: hasKeyField(),
      requestId: undefined,
      answer: undefined,
      askHost: (result) => askHost(row, result),
    },
  };
}

function without(given: Fields, property: string | undefined): Fields {
  if (property === undefined) return given;
  const { [property]: _, ...rest } = given;
  return rest;
}

const only = (args: Fields, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(args).filter(([name]) => names.includes(name)));

export interface Whose {
  /** The label that was given at install. */
  readonly label: string;
  /** The user of the operating system. */
  readonly user: string;
  /** The server's name in the ledger. */
  readonly server: string;
  /** Where a server that is a program is started: one command in two projects is two servers. */
  readonly folder?: string | undefined;
}

const SHOWN = 40;
const DIGEST = 22;

/** The scope of its calls. The digest makes it exact; the rest is for people. */
export function threadOf(whose: Whose, conversation: string | undefined): string {
  const { label, user, server, folder } = whose;
  const digest = digestText("gateway-thread", label, user, server, folder, conversation);
  const shown = [label, user, server].map(readable).join("/");
  return `mcp/${shown}/${digest.slice(0, DIGEST)}`;
}

const readable = (text: string): string =>
  text.replaceAll(/[^\w.@-]/gu, "_").slice(0, SHOWN) || "_";

/** Where hosts say which conversation a call belongs to. There is no standard. */
const CONVERSATION = [
  "dev.holdfire/conversation",
  "conversationId",
  "conversation_id",
  "threadId",
  "thread_id",
];
const LONGEST = 512;

export function conversationOf(meta: unknown): string | undefined {
  for (const name of CONVERSATION) {
    const value = peek(meta, name);
    if (typeof value === "string" && value !== "" && value.length <= LONGEST) return value;
  }
  return undefined;
}
