/**
 * The gateway: a host on one side, an MCP server on the other, and everything that is said between them. Read this
 * file first.
 *
 *   host ──► is it a guarded call? ──► server
 *   host ◄── is it an answer to one? ◄── server
 *
 * What the guard does not take goes through byte for byte, in the order in which it came. No side is read faster than
 * the other one takes it in.
 *
 * @module
 */

import type { Readable, Writable } from "node:stream";
import { systemClock, withTimeLimit } from "../lang/clock.ts";
import { peek } from "../lang/peek.ts";
import type { Chaos } from "./break-answers.ts";
import { type Line, linesOf } from "./pipe/lines.ts";
import { answerText, type Message, messageOf, parseLine, textOf } from "./pipe/message.ts";
import { type OwnRequests, ownRequests } from "./pipe/own-requests.ts";
import { createUnderWay, NO_ROOM } from "./pipe/under-way.ts";
import { RequestCancelledError, type Upstream } from "./pipe/upstream.ts";
import { type Writer, writerTo } from "./pipe/writer.ts";

/** What stands between the two; without one, nothing is guarded. */
export interface Guard {
  /** Whether it takes the message of the host, if it has room for it; what it does then goes on by itself. */
  fromHost(message: Message, bytes: () => Buffer | string): boolean | "no_room";
  /** What the host gets in place of the server's message; `undefined`: the message as it is, `null`: nothing. */
  fromServer(message: Message): string | null | undefined;
  /** Resolves when all calls under way have ended. */
  idle(): Promise<void>;
  /** The host has ended its input. `inGoodOrder`: it could still be written to. */
  hostEnded(inGoodOrder: boolean): Promise<void>;
  /** It is to end, or its server has: what it has left, also what is under way, is the next gateway's. */
  leave(): Promise<void>;
  /** Whether it matters how the host has ended its input. */
  awaitsReceipt(): boolean;
  close(): Promise<void>;
}

/** What a guard speaks through. */
export interface Wires {
  readonly toServer: OwnRequests;
  readonly toHost: OwnRequests;
  /** Sends a line to the server, beside what the host sends. */
  sendToServer(line: string | Buffer): Promise<void>;
  /** Hands on a request of the host, as if it had not been looked at. */
  passToServer(request: Message, line: string | Buffer): Promise<void>;
  /** Resolves when it has left this process. */
  sendToHost(line: string): Promise<void>;
}

export interface GatewayParts {
  readonly input: Readable;
  readonly output: Writable;
  readonly upstream: Upstream;
  readonly maxMessageBytes: number;
  readonly guard?: ((wires: Wires) => Guard) | undefined;
  /** Breaks answers on purpose. */
  readonly chaos?: Chaos | undefined;
  /** Its host wants it to end: the server is asked to, and may take its time. */
  readonly leaving?: AbortSignal | undefined;
  /** For people, on standard error. */
  readonly log: (line: string) => void;
}

/** The server ended before it had answered: whether it did what it was asked is not known. */
class ServerGoneError extends Error {
  override readonly name = "ServerGoneError";
}

/** How long a server is let finish what it was asked to do by a host that is gone. */
const FINISH_MS = 60_000;
/** Sent to a host that has ended its input: whether it can be written shows whether the host has died. */
const CLOSING = textOf({ jsonrpc: "2.0", method: "notifications/holdfire/closing" });

/** Runs until both sides have ended. Returns the exit code of the server. */
export async function runGateway(parts: GatewayParts): Promise<number> {
  const { input, output, upstream, chaos, log } = parts;
  const host = chaos ? chaos.around(writerTo(output)) : writerTo(output);
  const sendToServer = (line: string | Buffer) => upstream.send(line);
  const toServer = ownRequests(sendToServer);
  const toHost = ownRequests((line) => host.write(line));
  const wires: Wires = {
    toServer,
    toHost,
    sendToServer,
    passToServer: pass,
    sendToHost: (line) => host.write(line),
  };
  const guard = parts.guard?.(wires);
  parts.leaving?.addEventListener("abort", () => void guard?.leave(), { once: true });
  const passing = createUnderWay();

  async function fromHost(message: Message, bytes: () => Buffer | string): Promise<void> {
    if (message.kind === "answer" && toHost.take(message.id, message.answer)) return;
    const taken = guard?.fromHost(message, bytes);
    if (taken === "no_room") await refuse(message);
    else if (!taken) await pass(message, bytes());
  }

  async function refuse(message: Message): Promise<void> {
    if (message.kind !== "request") return;
    await host.write(answerText(message.id, { error: NO_ROOM })).catch(() => {});
  }

  async function pass(message: Message, line: string | Buffer): Promise<void> {
    const isAlone = !upstream.isConcurrent || message.kind !== "request";
    if (!isAlone && !passing.hasRoom(line.length)) return refuse(message);
    const sent = upstream.send(line).catch((error: unknown) => unanswered(message, error));
    if (isAlone) await sent;
    else passing.run(sent, line.length);
  }

  /** A request that cannot be answered any more; a program that has ended is told of by its own end. */
  async function unanswered(message: Message, error: unknown): Promise<void> {
    if (message.kind !== "request" || !upstream.isConcurrent) return;
    // A request that was cancelled gets no answer.
    if (error instanceof RequestCancelledError) return;
    await host.write(answerText(message.id, { error: failureOf(error) })).catch(() => {});
  }

  async function readHost(): Promise<void> {
    for await (const line of linesOf(input, parts.maxMessageBytes)) {
      if (line.tag === "too_long") {
        await host.write(tooLong(parts.maxMessageBytes)).catch(() => {});
        continue;
      }
      for (const { message, bytes } of messagesIn(line, isCall)) {
        const times = chaos?.times(message) ?? 1;
        for (let time = 0; time < times; time += 1) await fromHost(message, bytes);
      }
    }
  }

  async function readServer(): Promise<void> {
    for await (const line of upstream.lines) {
      if (line.tag === "too_long") {
        log(`The server sent a message of more than ${parts.maxMessageBytes} bytes. It is ended.`);
        upstream.signal("SIGTERM");
        return;
      }
      const isOwn = (one: Message) => one.kind === "answer" && toServer.isOwn(one.id);
      for (const { message, bytes } of messagesIn(line, isOwn)) {
        if (message.kind === "answer" && toServer.take(message.id, message.answer)) continue;
        const told = guard?.fromServer(message);
        // A host that is gone hears nothing; what the server says is still evidence.
        if (told !== null) await host.write(told ?? bytes()).catch(() => {});
      }
      await host.ready();
    }
  }

  const reading = readHost().catch(() => {});
  const hostEnds = reading.then(async () => {
    toHost.end(new Error("The host has ended its input."));
    await guard?.hostEnded(guard.awaitsReceipt() && (await isThere(host)));
    if (guard) await withTimeLimit(systemClock, FINISH_MS, guard.idle());
    upstream.end();
  });
  await readServer().catch(() => {});
  const exitCode = await upstream.ended;
  toServer.end(new ServerGoneError("The server ended before it had answered."));
  await guard?.leave();
  await guard?.idle();
  input.destroy();
  await hostEnds;
  await guard?.close();
  host.end();
  return exitCode;
}

/** As an error of JSON-RPC. What a server wants to be shown is no secret. */
function failureOf(error: unknown): object {
  const cause = peek(error, "cause");
  const why = [error, cause].flatMap((one) => (one instanceof Error ? [one.message] : []));
  const [status, challenge] = ["status", "challenge"].map((name) => peek(cause ?? error, name));
  const data = typeof status === "number" ? { data: { status, challenge } } : {};
  return { code: -32000, message: why.join(" "), ...data };
}

const isThere = (host: Writer): Promise<boolean> =>
  host.write(CLOSING).then(
    () => true,
    () => false,
  );

/** The messages of a line: one, but for a batch in which one is meant for us; its messages go one by one. */
function messagesIn(
  { bytes }: Extract<Line, { tag: "line" }>,
  isForUs: (message: Message) => boolean,
): { message: Message; bytes: () => Buffer | string }[] {
  const value = parseLine(bytes);
  const message = messageOf(value);
  const items = message.kind === "batch" ? message.items.map(messageOf) : [];
  if (!items.some(isForUs)) return [{ message, bytes: () => bytes }];
  return items.map((item, index) => ({
    message: item,
    bytes: () => textOf((value as object[])[index] ?? {}),
  }));
}

const isCall = (message: Message): boolean =>
  "method" in message &&
  (message.method === "tools/call" || message.method === "notifications/cancelled");

/** The id of what was dropped is not known. */
const tooLong = (maxBytes: number): string =>
  answerText(null as never, {
    error: { code: -32600, message: `The message is longer than ${maxBytes} bytes.` },
  });
