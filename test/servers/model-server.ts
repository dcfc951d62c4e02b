/**
 * A local server that speaks like OpenAI and Anthropic, does as it is told, and counts what arrives.
 *
 * Point an OpenAI client at `server.openai`, an Anthropic client at `server.anthropic`. Each request
 * gets the next act of the script; when the script is used up, the usual act. Requests are numbered
 * from 1, and the usual answer is `answer N`, so two samples are never the same.
 *
 * ```ts
 * const server = await startModelServer();
 * server.script({ act: "status", status: 503 }, { act: "say", saying: { text: "Hello" } });
 * await client.responses.create({ model: "m", input: "Hi" });
 * expect(server.arrivals).toHaveLength(2);
 * ```
 *
 * Paths: POST /v1/chat/completions, POST /v1/responses (also `background: true`), GET
 * /v1/responses/ID (in progress once, then completed), POST /v1/messages, each streamed if the body
 * says so. To any other path it says `{}`.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Asked,
  chatCompletion,
  chatEvents,
  type Event,
  message,
  messageEvents,
  type ResponseStatus,
  responseEvents,
  responseObject,
  type Saying,
  writeEvent,
} from "./model-wire.ts";

export { type Saying, type ToolSaying, USAGE } from "./model-wire.ts";

/** What becomes of one request. Headers are added to the answer. */
export type Act =
  /** A proper answer. */
  | { readonly act: "say"; readonly saying?: Saying; readonly headers?: Headers }
  /** A status, with a body like the provider's own unless one is given. */
  | {
      readonly act: "status";
      readonly status: number;
      readonly headers?: Headers;
      readonly body?: unknown;
    }
  /** A 200 with this very body. */
  | { readonly act: "raw"; readonly contentType: string; readonly text: string }
  /** The connection is reset before a byte of the answer. */
  | { readonly act: "reset" }
  /** No answer, ever. */
  | { readonly act: "hang" }
  /** The head and so many events of a stream (or half of a JSON body) come; then it breaks or hangs. */
  | { readonly act: "break" | "stall"; readonly afterEvents?: number; readonly saying?: Saying };

type Headers = Readonly<Record<string, string>>;

/** A request that arrived, whole. */
export interface Arrival {
  /** From 1. */
  readonly n: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body, if it is JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export interface ModelServer {
  readonly origin: string;
  /** The base URL of an OpenAI client. */
  readonly openai: string;
  /** The base URL of an Anthropic client. */
  readonly anthropic: string;
  readonly arrivals: readonly Arrival[];
  /** What the next requests get, in order. */
  script(...acts: readonly Act[]): void;
  /** Drops what is left of the script. */
  forget(): void;
  /** What requests get when the script is used up. */
  usually(act: Act): void;
  /** Hears of every arrival before it is answered. */
  onArrival(listener: (arrival: Arrival) => void): void;
  /** Requests that have arrived and are not answered to the end. */
  underWay(): number;
  close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const arrivals: Arrival[] = [];
  const listeners: ((arrival: Arrival) => void)[] = [];
  const polls = new Map<string, number>();
  let acts: Act[] = [];
  let usual: Act = { act: "say" };
  let underWay = 0;

  const server = createServer((request, response) => {
    underWay += 1;
    response.on("close", () => {
      underWay -= 1;
    });
    void receive(request, arrivals.length + 1).then((arrival) => {
      arrivals.push(arrival);
      for (const listener of listeners) listener(arrival);
      perform(acts.shift() ?? usual, arrival, response, polls);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };

  return {
    origin,
    openai: `${origin}/v1`,
    anthropic: origin,
    arrivals,
    script(...more) {
      acts = [...acts, ...more];
    },
    forget() {
      acts = [];
    },
    usually(act) {
      usual = act;
    },
    onArrival(listener) {
      listeners.push(listener);
    },
    underWay: () => underWay,
    close,
  };
}

async function receive(request: IncomingMessage, n: number): Promise<Arrival> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The client left in the middle; what came has arrived.
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const path = new URL(request.url ?? "/", "http://server").pathname;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
  );
  return { n, method: request.method ?? "", path, headers, text, body: parse(text) };
}

function perform(act: Act, arrival: Arrival, response: ServerResponse, polls: Map<string, number>) {
  switch (act.act) {
    case "hang":
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "raw":
      response.writeHead(200, { "content-type": act.contentType }).end(act.text);
      return;
    case "status": {
      const body = act.body ?? problem(arrival.path, act.status);
      const headers = { "content-type": "application/json", ...act.headers };
      response.writeHead(act.status, headers).end(JSON.stringify(body));
      return;
    }
    case "say":
    case "break":
    case "stall": {
      const saying = act.saying ?? { text: `answer ${arrival.n}` };
      const answer = answerTo(arrival, saying, polls);
      const headers = act.act === "say" ? (act.headers ?? {}) : {};
      const isStream = Array.isArray(answer);
      response.writeHead(200, {
        "content-type": isStream ? "text/event-stream" : "application/json",
        "x-request-id": `req_${arrival.n}`,
        "request-id": `req_${arrival.n}`,
        ...headers,
      });
      const text = JSON.stringify(answer);
      const parts = isStream
        ? (answer as readonly Event[]).map(writeEvent)
        : [text.slice(0, text.length / 2), text.slice(text.length / 2)];
      if (act.act === "say") {
        for (const part of parts) response.write(part);
        response.end();
        return;
      }
      const sent = parts.slice(0, act.afterEvents ?? 1).join("");
      response.write(sent, () => {
        if (act.act === "break") response.socket?.destroy();
      });
    }
  }
}

function answerTo(
  { n, method, path, body = {} }: Arrival,
  saying: Saying,
  polls: Map<string, number>,
): object {
  const asked: Asked = body;
  if (method === "POST" && path.endsWith("/chat/completions")) {
    return asked.stream ? chatEvents(saying, n, asked) : chatCompletion(saying, n, asked);
  }
  if (method === "POST" && path.endsWith("/v1/messages")) {
    return asked.stream ? messageEvents(saying, n, asked) : message(saying, n, asked);
  }
  if (method === "POST" && path.endsWith("/responses")) {
    if (asked.stream) return responseEvents(saying, n, asked);
    const isBackground = body.background === true;
    return responseObject(saying, n, asked, isBackground ? "queued" : "completed", isBackground);
  }
  const id = /\/responses\/resp_(\d+)$/.exec(path)?.[1];
  if (method === "GET" && id !== undefined) {
    const times = (polls.get(id) ?? 0) + 1;
    polls.set(id, times);
    const status: ResponseStatus = times > 1 ? "completed" : "in_progress";
    return responseObject({ text: `answer ${id}` }, Number(id), asked, status, true);
  }
  return {};
}

/** An error as the provider words it. */
function problem(path: string, status: number): object {
  const error = { type: "test_error", message: `Status ${status}.` };
  return path.endsWith("/v1/messages") ? { type: "error", error } : { error };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
