/**
 * The tool: one request. Every stack runs this code, or sends the request that this code would send.
 *
 * A process can be told to die at two places in it, once.
 *
 * @module
 */

import { leavesLate, timesOut } from "./late-branch.ts";
import { sendInTurn } from "./send-queue.ts";
import type { Ask, Tool } from "./stack.ts";

/** What is sent; the note is wording. */
export interface Order {
  readonly item: string;
  readonly cents: number;
  readonly note: string;
}

export const orderOf = ({ item, cents, note }: Order): Order => ({ item, cents, note });

export interface Receipt {
  readonly id: string;
}

/** Where a process can die by itself. The others are told apart by what has arrived at the service. */
export type Spot = "before_send" | "after_reply" | "before_told";

/** In the so-many-th write to the ledger: with the write on its way, or done and its answer not seen yet. */
export interface WriteSpot {
  readonly write: number;
  readonly when: "on_its_way" | "written";
}

const dooms = new Map<string, Spot>();

/** This process dies when the call for this item comes to the spot. A new process knows nothing of it. */
export const dieAt = (item: string, spot: Spot): void => void dooms.set(item, spot);

export function pass(item: string, spot: Spot): void {
  if (dooms.get(item) === spot) process.kill(process.pid, "SIGKILL");
}

/** The service answered, and not with a success. */
export class StatusError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The service answered ${status}.`);
    this.status = status;
  }
}

/** Whether the service has said no: what is not repeated by a careful author. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof StatusError && error.status >= 400 && error.status < 500 && error.status !== 409;

export interface Sending {
  /** Sent as `Idempotency-Key`: for a keyed service to recognise, for a readable one to find. */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where the request goes, and how. */
export function requestOf(tool: Tool, { item }: Order): { method: string; url: string } {
  return tool.class === "conditional"
    ? { method: "PUT", url: `${tool.url}/conditional/records/${encodeURIComponent(item)}` }
    : { method: "POST", url: `${tool.url}/${tool.class}/effects` };
}

export async function placeOrder(
  tool: Tool,
  order: Order,
  { key, fetch: send = fetch, signal = AbortSignal.timeout(tool.timeoutMs) }: Sending,
): Promise<Receipt> {
  const { method, url } = requestOf(tool, order);
  pass(order.item, "before_send");
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (key !== undefined) headers["idempotency-key"] = key;
  // The name must be free: this is what makes a second one impossible.
  if (tool.class === "conditional") headers["if-none-match"] = "*";
  const body = JSON.stringify(orderOf(order));
  if (tool.also === "telemetry") exportTelemetry(tool);
  const sendLate = () => send(url, { method, headers, body });
  if (leavesLate(tool, order.item, sendLate)) return timesOut(tool);
  const post = () => send(url, { method, headers, body, signal });
  let response = await (tool.also === "send_queue" ? sendInTurn(post) : post());
  if (tool.also === "oauth" && response.status === 401) {
    headers.authorization = "Bearer refreshed";
    response = await post();
  }
  if (tool.mistake !== "swallows_status" && !response.ok) throw new StatusError(response.status);
  const receipt = (await response.json()) as Receipt;
  pass(order.item, "after_reply");
  return receipt;
}

/** As an exporter does: a request of its own beside the order, which fails. */
function exportTelemetry(tool: Tool): void {
  const spans = { method: "POST", body: JSON.stringify({ spans: 1 }) };
  fetch(`${tool.url}/telemetry`, spans).catch(() => {});
}

/** What the service has under a key. */
export async function findOrders(
  tool: Tool,
  query: Readonly<Record<string, string>>,
  { fetch: send = fetch, signal }: Sending,
): Promise<Receipt[]> {
  const url = `${tool.url}/${tool.class}/effects?${new URLSearchParams(query)}`;
  const response = await send(url, { signal: signal ?? AbortSignal.timeout(tool.timeoutMs) });
  if (!response.ok) {
    if (tool.mistake === "reads_503_as_empty") return [];
    throw new StatusError(response.status);
  }
  return (await response.json()) as Receipt[];
}

/** What of an ask is sent. */
export const orderFrom = (ask: Ask): Order => orderOf(ask);
