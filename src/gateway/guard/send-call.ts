/**
 * One attempt: one `tools/call` to the server, with the key in it, and what its answer says.
 *
 * A server that needs something first answers with `input_required`. The host gets that answer and issues the call
 * again with what was asked for; here it is still the same attempt.
 *
 * @module
 */

import { afterHanding, McpToolError } from "../../classify/mcp.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { KEY_META } from "../../integrations/mcp/result.ts";
import type { McpTool } from "../../integrations/mcp/sdk.ts";
import { keyPropertyOf } from "../../integrations/shared/tools/hidden-key.ts";
import { peek } from "../../lang/peek.ts";
import { type Answer, type Fields, fieldsOf, type Id, plainOf } from "../pipe/message.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";

/** What a call of the host brings with it. */
export interface Sending {
  /** As the host gave them, without what it answers to a question of ours. */
  params: Fields;
  readonly tool: McpTool | undefined;
  /** The argument that takes the key. */
  readonly keyField: string | undefined;
  /** The server has the draft field for the key. */
  readonly hasKeyField: boolean;
  /** The id of the request under way, for its cancellation. */
  requestId: Id | undefined;
  /** The server's answer as it came. */
  answer: Answer | undefined;
  /** The server asks for something first; resolves with the parameters that the host has issued the call with again. */
  readonly askHost: (result: Fields) => Promise<Fields>;
}

/** The server answered with a JSON-RPC error. */
export class McpErrorAnswer extends McpToolError {
  /** The error, as it came. */
  declare readonly error: unknown;

  constructor(error: unknown) {
    const said = peek(error, "message");
    const text = typeof said === "string" ? said : "The server answered with an error.";
    super({ content: [{ type: "text", text }], isError: true });
    Object.defineProperty(this, "error", { value: error, enumerable: false });
  }
}

/** Each attempt was answered, with an error; an answer with a result would have settled it. */
export const hasOnlyErrors = ({ attempts }: Pick<OperationView, "attempts">): boolean =>
  attempts.length > 0 && attempts.every(({ failure }) => failure?.answered);

export async function sendCall(
  sending: Sending,
  key: string,
  toServer: OwnRequests,
): Promise<unknown> {
  for (;;) {
    const made = (id: Id) => {
      sending.requestId = id;
    };
    const answer = await toServer
      .ask("tools/call", withKey(sending, key), made)
      .catch((error: unknown) => {
        throw afterHanding(error);
      });
    sending.requestId = undefined;
    const { result, error } = answer;
    if (error === undefined && peek(result, "resultType") === "input_required") {
      sending.params = await sending.askHost(fieldsOf(result));
      continue;
    }
    sending.answer = answer;
    if (error !== undefined) throw new McpErrorAnswer(error);
    const plain = plainOf(result);
    if (peek(plain, "isError") === true) throw new McpToolError(plain);
    return plain;
  }
}

function withKey({ params, tool, keyField, hasKeyField }: Sending, key: string): object {
  const property = keyField ?? keyPropertyOf(tool?.inputSchema);
  const args = fieldsOf(params.arguments);
  return {
    ...params,
    ...(property === undefined ? {} : { arguments: { ...args, [property]: key } }),
    ...(hasKeyField ? { idempotencyKey: key } : {}),
    _meta: { ...fieldsOf(params._meta), [KEY_META]: key },
  };
}
