/**
 * Answers of the server to the host in which something is read or added: what it says it can do, and its tools.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { type Answer, answerText, fieldsOf, type Id } from "../pipe/message.ts";
import type { OwnTools } from "./own-tools.ts";
import type { ServerTools } from "./server-tools.ts";

export interface ServerAnswers {
  /** The host has sent this request. */
  expect(id: Id, method: string): void;
  /** What the host gets in its place; `undefined`: the answer as it is. */
  changed(id: Id, answer: Answer): string | undefined;
  /** The server says that it has the draft field for the key. */
  hasKeyField(): boolean;
}

const METHODS = new Set(["tools/list", "initialize", "server/discover"]);

export function serverAnswers(tools: ServerTools, own: OwnTools): ServerAnswers {
  const expected = new Map<Id, string>();
  let hasKeyField = false;

  function listed(id: Id, result: unknown): string {
    const shown = fieldsOf(tools.show(result));
    const isLast = typeof shown.nextCursor !== "string" || shown.nextCursor === "";
    const all = isLast ? own.addTo(shown.tools as readonly object[]) : shown.tools;
    return answerText(id, { result: { ...shown, tools: all } });
  }

  return {
    expect(id, method) {
      if (METHODS.has(method)) expected.set(id, method);
    },
    changed(id, { result }) {
      const method = expected.get(id);
      expected.delete(id);
      if (method === undefined || result === undefined) return undefined;
      if (method === "tools/list") return listed(id, result);
      hasKeyField = Boolean(peek(peek(peek(result, "capabilities"), "tools"), "idempotency"));
      return undefined;
    },
    hasKeyField: () => hasKeyField,
  };
}
