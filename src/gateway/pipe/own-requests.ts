/**
 * Requests that the gateway itself makes, to the server or to the host, beside those that it hands on. Their ids are
 * random, so that no answer to another request is taken for theirs.
 *
 * @module
 */

import { type Answer, type Id, requestText } from "./message.ts";

export interface OwnRequests {
  /** Rejects if it cannot be sent, and when the other side ends before it has answered. */
  ask(method: string, params: object, made?: (id: Id) => void): Promise<Answer>;
  isOwn(id: Id): boolean;
  /** Whether the answer was to one of ours; then it is taken. */
  take(id: Id, answer: Answer): boolean;
  /** No more answers come. */
  end(why: Error): void;
}

export function ownRequests(send: (line: string) => Promise<void>): OwnRequests {
  const prefix = `holdfire-${crypto.randomUUID()}`;
  const waiting = new Map<
    Id,
    { readonly resolve: (answer: Answer) => void; readonly reject: (error: unknown) => void }
  >();
  let count = 0;
  let ended: Error | undefined;
  const isOwn = (id: Id): boolean => typeof id === "string" && id.startsWith(prefix);
  return {
    isOwn,
    ask: (method, params, made) =>
      new Promise((resolve, reject) => {
        count += 1;
        const id = `${prefix}-${count}`;
        waiting.set(id, { resolve, reject });
        made?.(id);
        const fail = (error: unknown) => {
          waiting.delete(id);
          reject(error);
        };
        // One that cannot be sent any more says so itself.
        send(requestText(id, method, params)).then(() => ended && fail(ended), fail);
      }),
    take(id, answer) {
      // What comes for one that was given up is still ours.
      if (!isOwn(id)) return false;
      waiting.get(id)?.resolve(answer);
      waiting.delete(id);
      return true;
    },
    end(why) {
      ended ??= why;
      for (const { reject } of waiting.values()) reject(why);
      waiting.clear();
    },
  };
}
