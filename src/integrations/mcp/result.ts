/**
 * From an outcome to the `CallToolResult` that the caller gets.
 *
 * Models read `content`: there stands the envelope, and behind it what is no text (images, resources).
 * Programs read `structuredContent`, which is the tool's own, and `isError`, which is true for everything that
 * is not done. The envelope without its data is in `_meta` as well.
 *
 * @module
 */

import { McpToolError } from "../../classify/mcp.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { peek, peekItems } from "../../lang/peek.ts";

/** Where the key stands in a request's `_meta`. */
export const KEY_META = "dev.holdfire/idempotency-key";
/** Where the envelope, without its data, stands in a result's `_meta`. */
export const REPLY_META = "dev.holdfire/reply";

const MAX_BLOCKS = 1_000;

const blocksOf = (result: unknown): readonly unknown[] =>
  peekItems(peek(result, "content"), MAX_BLOCKS);

const isText = (block: unknown): boolean => peek(block, "type") === "text";

/** What the tool said, for the envelope: its structured content, else its text. */
export function dataOf(result: unknown): unknown {
  const structured = peek(result, "structuredContent");
  if (structured !== undefined) return structured;
  const texts = blocksOf(result)
    .filter(isText)
    .map((block) => peek(block, "text"));
  return texts.length > 1 ? texts : texts[0];
}

/** As `reply` has it: the envelope for models, or the tool's own result for programs. */
export function resultOf(
  outcome: Outcome<unknown>,
  reply: Reply,
  form: "envelope" | "result",
): object {
  const { data: _, ...facts } = reply;
  const tell = (text: object) => ({ type: "text", text: JSON.stringify(text) });
  if (outcome.status === "committed" && !outcome.resultLost) {
    const own = asResult(outcome.result);
    const _meta = { ...own._meta, [REPLY_META]: plain(facts) };
    if (form === "result") return { ...own, _meta };
    const rest = blocksOf(own).filter((block) => !isText(block));
    return { ...own, content: [tell({ ...facts, data: dataOf(own) }), ...rest], _meta };
  }
  const isDone = outcome.status === "committed";
  const failure = "error" in outcome ? outcome.error : undefined;
  // What the server itself says of its failure helps more than our word for it.
  const said = failure instanceof McpToolError ? blocksOf(failure.result) : [];
  return {
    content: [tell(facts), ...said],
    isError: !isDone,
    _meta: { [REPLY_META]: plain(facts) },
  };
}

/** A reader may have found the thing itself, and not what the tool once said of it. */
function asResult(found: unknown): { readonly _meta?: object | undefined } {
  const isResult =
    Array.isArray(peek(found, "content")) || peek(found, "structuredContent") !== undefined;
  if (isResult) return found as object;
  const content = [{ type: "text", text: JSON.stringify(found) ?? "" }];
  const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
  return isObject ? ({ content, structuredContent: found } as object) : ({ content } as object);
}

/** Without what is undefined, as it would come over a wire. */
const plain = (facts: object): object => JSON.parse(JSON.stringify(facts));
