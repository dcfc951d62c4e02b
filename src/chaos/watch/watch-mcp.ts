/**
 * Watches MCP servers over stdio: a child process whose first message is `initialize` is one. Its answers are broken
 * as the gateway breaks them (`gateway/break-answers.ts`), on the pipe between the two.
 *
 * @module
 */

import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { basename } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type Chaos, type ChaosMode, createChaos } from "../../gateway/break-answers.ts";
import { fieldsOf, type Id, messageOf, type Request } from "../../gateway/pipe/message.ts";
import { systemClock } from "../../lang/clock.ts";
import { tryCall } from "../../lang/peek.ts";
import type { Fault } from "../orders.ts";
import type { Hit, Journal } from "./journal.ts";
import { guarded } from "./tap-socket.ts";

/** The faults that a pipe can have. A server that dies is what a reset is there. */
const MODES: Readonly<Partial<Record<Fault, ChaosMode>>> = {
  "lose-reply": "lose-reply",
  reset: "die",
  slow: "slow",
};

export function watchMcp(journal: Journal): void {
  subscribe("child_process", (message) => {
    const { process: child } = message as { readonly process: ChildProcess };
    // Its pipes are made right after this.
    process.nextTick(() =>
      guarded(journal, () => {
        if (child.stdin && child.stdout) tap(child, child.stdin, child.stdout, journal);
      }),
    );
  });
}

function tap(child: ChildProcess, input: Writable, output: Readable, journal: Journal): void {
  const isRelay = isGateway(child.spawnargs) || undefined;
  const origin = `stdio://${isRelay ? "holdfire-mcp" : nameOf(child.spawnargs)}`;
  /** Tools that say that they only read. */
  const reads = new Set<unknown>();
  const lists = new Set<Id>();
  const { write } = input;
  const { push } = output;
  let isServer: boolean | undefined;
  let chaos: Chaos | undefined;
  let hit: (Hit & { readonly id: Id }) | undefined;

  function sent(line: string): void {
    const message = messageOf(jsonOf(line));
    isServer ??= message.kind === "request" && message.method === "initialize";
    if (!isServer || message.kind !== "request") return;
    if (message.method === "tools/list") lists.add(message.id);
    if (message.method !== "tools/call" || reads.has(message.params.name)) return;
    const request = { method: "CALL", origin, path: "", query: "", contentType: "json" };
    const found = journal.sent({ ...request, body: Buffer.from(line) }, journal.sender(), {
      isRelay,
    });
    if (!found) return;
    hit = { ...found, id: message.id };
    chaos = chaosFor(found, message, child);
  }

  function received(line: string): void {
    const message = messageOf(jsonOf(line));
    if (message.kind !== "answer") return;
    if (chaos && message.id === hit?.id) hit.broken();
    if (!lists.delete(message.id)) return;
    for (const tool of listOf(fieldsOf(message.answer.result).tools)) {
      const { name, annotations } = fieldsOf(tool);
      if (fieldsOf(annotations).readOnlyHint === true) reads.add(name);
    }
  }

  const written = linesFrom((line) => guarded(journal, () => sent(line)));
  const arrived = linesFrom((line) => {
    guarded(journal, () => received(line));
    const host = {
      write: async (text: string | Buffer) => void push.call(output, Buffer.from(`${text}\n`)),
      ready: async () => {},
      isClosed: () => output.destroyed,
      end() {},
    };
    void (chaos?.around(host) ?? host).write(line);
  });

  Object.assign(input, {
    write(...given: Parameters<Writable["write"]>) {
      if (isServer !== false) written(given[0]);
      return write.apply(input, given);
    },
  });
  Object.assign(output, {
    push(chunk: Buffer | null, ...more: []) {
      if (chunk === null || !isServer) return push.call(output, chunk, ...more);
      arrived(chunk);
      return true;
    },
  });
}

function chaosFor({ fault, slowMs }: Hit, call: Request, child: ChildProcess): Chaos | undefined {
  const mode = MODES[fault];
  if (mode === undefined) return undefined;
  const chaos = createChaos({
    mode,
    nth: 1,
    slowMs,
    random: () => 0,
    clock: systemClock,
    die: () => void child.kill("SIGKILL"),
    log() {},
  });
  chaos.times(call);
  return chaos;
}

/** Hands on whole lines. */
function linesFrom(take: (line: string) => void): (chunk: unknown) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, Buffer.from(chunk as string)]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      take(line);
    }
  };
}

const jsonOf = (line: string): unknown => tryCall(JSON, "parse", line);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The program that is run, without its path: `npx -y @acme/server` is `server`. */
function nameOf(command: readonly string[]): string {
  const named = command
    .slice(1)
    .find((word) => /^[@\w./\\:-]+$/.test(word) && !word.startsWith("-"));
  return basename(named ?? command[0] ?? "server");
}

/** `holdfire mcp … -- SERVER` hands calls on: what counts is what it sends to the server. */
function isGateway(command: readonly string[]): boolean {
  const at = command.indexOf("mcp");
  const before = command.slice(0, Math.max(at, 0));
  return before.some((word) => /(?:^|[/\\])(?:holdfire(?:\.\w+)?|cli[/\\]main\.[jt]s)$/.test(word));
}
