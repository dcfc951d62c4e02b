/**
 * `hf.statusTool()`: by which a model looks up what became of an operation instead of acting again.
 *
 * It reads the ledger and nothing else: no request leaves, and no arguments and no results are told.
 *
 * @module
 */

import type { CallOptions } from "../define/definition.ts";
import type { Reply } from "../outcome/reply.ts";

/** What the model asks with. */
export interface StatusQuestion {
  /** `operation` of an earlier reply, its key, or the id of the tool call that made it. */
  readonly operation: string;
}

/** What is told of an operation. */
export interface OperationStatus {
  readonly tool: string;
  readonly key: string;
  /** How often it was fired. */
  readonly attempts: number;
  /** When it came to be as it is, as an ISO date. */
  readonly since: string;
  readonly reason?: string | undefined;
}

/** The envelope of every tool; its outcome is that of the operation asked about. */
export type StatusReply = Omit<Reply<OperationStatus>, "outcome"> & {
  readonly outcome: Reply["outcome"] | "not_found";
};

/** A tool for a model. It sees the operations of its own tenant and scope, or of its own thread. */
export interface StatusTool {
  (args: StatusQuestion, options?: Pick<CallOptions, "scope">): Promise<StatusReply>;
  reply(args: StatusQuestion, options?: Pick<CallOptions, "scope">): Promise<StatusReply>;
  readonly toolName: "operation_status";
  readonly description: string;
  /** Its arguments, as JSON Schema. */
  readonly inputSchema: typeof STATUS_SCHEMA;
}

const STATUS_SCHEMA = {
  type: "object",
  properties: {
    operation: {
      type: "string",
      description:
        'The "operation" of an earlier tool reply, or the id of the tool call that made it.',
    },
  },
  required: ["operation"],
  additionalProperties: false,
} as const;

export type LookUp = (question: StatusQuestion, scope: string | undefined) => Promise<StatusReply>;

export function makeStatusTool(lookUp: LookUp): StatusTool {
  const ask: StatusTool["reply"] = async (args, { scope } = {}) => lookUp(args, scope);
  return Object.assign(ask, {
    reply: ask,
    toolName: "operation_status",
    description:
      "Tells what became of an earlier tool call whose outcome was unknown, in progress or held. It changes nothing; use it instead of calling the tool again.",
    inputSchema: STATUS_SCHEMA,
  } as const);
}
