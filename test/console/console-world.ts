/**
 * A holdfire with tools that a person has to decide about, and its console.
 *
 * @module
 */

import { type ConsoleOptions, consoleHandler } from "../../src/console/index.ts";
import type {
  Inbox,
  OperationDetail,
  OperationPage,
  Problem,
  Session,
} from "../../src/console/model.ts";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { cannotTell, committed } from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";

export const HOST = "ops.example.com";
const ORIGIN = `https://${HOST}`;

export interface ConsoleTools {
  /** Needs a yes. */
  readonly refund: GuardedTool<{ payee: string; cents: number }, string>;
  /** Its reply is lost; its reader finds it if `world.there` has the payee. */
  readonly pay: GuardedTool<{ payee: string }, string>;
  /** Its reply is lost, and no reader can tell. */
  readonly post: GuardedTool<{ text: string }, string>;
  /** Succeeds. */
  readonly note: GuardedTool<{ text: string }, unknown>;
}

export interface ConsoleWorld {
  readonly hf: Holdfire;
  readonly tools: ConsoleTools;
  /** Refunds that were made. */
  readonly refunded: unknown[];
  /** Payees whom the reader finds. */
  readonly there: Set<string>;
  /** GET, as the page does it. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** POST, as the page does it; `headers` with `undefined` are left out. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string | undefined>,
  ): Promise<Response>;
  session(): Promise<Session>;
  inbox(): Promise<Inbox>;
  operations(query?: string): Promise<OperationPage>;
  detail(id: string): Promise<OperationDetail>;
}

export const problemIn = async (response: Response): Promise<Problem> =>
  (await response.json()) as Problem;

interface Given extends Partial<ConsoleOptions> {
  readonly store?: Store;
  readonly expiryMs?: number;
  readonly tenant?: string;
}

export function consoleWorld(given: Given = {}): ConsoleWorld {
  const { store = memoryStore({ forgets: "accepted" }), expiryMs, tenant, ...options } = given;
  const hf = createHoldfire({ store, tenant, ...(expiryMs && { approvals: { expiryMs } }) });
  const refunded: unknown[] = [];
  const there = new Set<string>();
  const tools = consoleTools(hf, refunded, there);
  const authorize = () => ({ name: "ana", mayDecide: true });
  const handler = consoleHandler(hf, { authorize, ...options });
  const get = (path: string, headers: Record<string, string> = {}) =>
    handler(new Request(`${ORIGIN}/${path}`, { headers }));
  const json = async <T>(path: string) => (await (await get(path)).json()) as T;
  return {
    ...{ hf, tools, refunded, there, get },
    post: (path, body, headers = {}) => {
      const all: Record<string, string | undefined> = {
        origin: ORIGIN,
        "content-type": "application/json",
        "x-holdfire-console": "1",
        ...headers,
      };
      const sent = Object.entries(all).filter((each): each is [string, string] => !!each[1]);
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return handler(
        new Request(`${ORIGIN}/${path}`, { method: "POST", headers: sent, body: text }),
      );
    },
    session: () => json("api/session"),
    inbox: () => json("api/inbox"),
    operations: (query = "") => json(`api/operations?${query}`),
    detail: (id) => json(`api/operations/${id}`),
  };
}

/** A lost reply. */
const lost = () =>
  Promise.reject(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));

export function consoleTools(
  hf: Holdfire,
  refunded: unknown[] = [],
  there: Set<string> = new Set(),
): ConsoleTools {
  return {
    refund: hf.tool({
      name: "refund_payment",
      kind: "destructive",
      alsoDoes: ["e-mails the customer"],
      plan: ({ payee, cents }) => ({
        changes: [
          {
            type: "update",
            target: `balance/${payee.slice(0, 60)}`,
            before: { cents: 0 },
            after: { cents },
          },
        ],
      }),
      run: async (args: { payee: string; cents: number }) => {
        refunded.push(args);
        return "refunded";
      },
    }),
    pay: hf.tool({
      name: "pay_out",
      kind: "write",
      attempts: 1,
      readState: ({ intent: { payee } }) =>
        there.has(payee)
          ? committed("paid", { effectId: `payout-${payee}` })
          : cannotTell("not listed"),
      run: (_: { payee: string }): Promise<string> => lost(),
    }),
    post: hf.tool({
      name: "post_message",
      kind: "write",
      attempts: 1,
      run: (_: { text: string }): Promise<string> => lost(),
    }),
    note: hf.tool({
      name: "write_note",
      kind: "write",
      run: async ({ text }: { text: string }) => ({ text }),
    }),
  };
}
