/**
 * Hosts, gateways and servers for tests: a client of a real SDK, a gateway in this process, a server that is a process
 * of its own and notes its effects in a file.
 *
 * @module
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client as SecondClient } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { Chaos } from "../../src/gateway/break-answers.ts";
import { runGateway } from "../../src/gateway/gateway.ts";
import { createGuard, type GuardOptions } from "../../src/gateway/guard/guard.ts";
import { linesOf } from "../../src/gateway/pipe/lines.ts";
import { startServer } from "../../src/gateway/pipe/server-process.ts";
import type { Upstream } from "../../src/gateway/pipe/upstream.ts";
import { type Clock, systemClock } from "../../src/lang/clock.ts";
import type { Store } from "../../src/ledger/store.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";

export const SERVER: string = fileURLToPath(new URL("noting-server.ts", import.meta.url));
export type Version = "v1" | "v2";
export const VERSIONS = ["v1", "v2"] as const;

export interface Effect {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly key?: string;
  readonly draft?: string;
  readonly state?: string;
}

export interface World {
  readonly folder: string;
  readonly file: string;
  readonly ledger: string;
  effects(): Effect[];
  /** Lets a call go on that waits for this file. */
  release(path: string): void;
  /** Moves the clocks of all gateways and of the ledger. */
  pass(ms: number): void;
  readonly clock: Clock;
}

export function newWorld(folder: string): World {
  let passed = 0;
  const file = join(folder, "effects");
  return {
    folder,
    file,
    ledger: join(folder, "ledger.db"),
    effects: () =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : [],
    release: (path) => appendFileSync(path, ""),
    pass: (ms) => {
      passed += ms;
    },
    clock: {
      now: () => Date.now() + passed,
      monotonic: () => performance.now() + passed,
      after: systemClock.after,
    },
  };
}

export interface Result {
  readonly content: { type: string; text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly _meta?: Record<string, unknown>;
}

export interface HostOptions extends Partial<Omit<GuardOptions, "hf" | "whose">> {
  readonly version?: Version;
  readonly label?: string;
  readonly user?: string;
  /** How the host's person answers; without it the host cannot ask. */
  readonly elicit?: (message: string) => "yes" | "no" | "close";
  readonly serverArgs?: readonly string[];
  readonly name?: string;
  readonly chaos?: Chaos;
  /** In place of a file. */
  readonly store?: Store;
  /** In place of a server that is a process. */
  readonly upstream?: Upstream;
  /** Nothing is guarded. */
  readonly unguarded?: boolean;
  /** The gateway is told to end. */
  readonly leaving?: AbortSignal;
}

export interface Host {
  readonly hf: Holdfire;
  call(
    name: string,
    args?: object,
    options?: { signal?: AbortSignal; timeout?: number; meta?: object },
  ): Promise<Result>;
  request(method: string, params?: object): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string; inputSchema: Record<string, unknown> }[] }>;
  /** What the gateway has written, line by line. */
  readonly lines: string[];
  /** Writes to the gateway. */
  write(line: string): void;
  /** The next line that the gateway writes and that fits. */
  next(fits: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Ends in good order. Resolves with the exit code. */
  end(): Promise<number>;
  /** Both ends of the pipe are gone at once. */
  die(): Promise<number>;
  /** The server is killed, and with it the gateway ends. */
  killServer(): Promise<number>;
  readonly logged: string[];
}

/** A gateway with a server and, but for `raw`, a client of an SDK that has connected. */
export async function startHost(
  world: World,
  options: HostOptions & { readonly raw?: boolean } = {},
): Promise<Host> {
  const { version = "v1", label = "test", user = "ana", serverArgs = [], raw = false } = options;
  const now = () => Math.floor(world.clock.now());
  const store = options.store ?? sqliteStore({ path: world.ledger, now });
  const surroundings = { clock: world.clock };
  const hf = createHoldfire({ app: "test", store, surroundings, retry: { drainMs: 200 } });
  const input = new PassThrough();
  const output = new PassThrough();
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const upstream =
    options.upstream ??
    startServer({
      command: process.execPath,
      args: [SERVER, world.file, ...serverArgs],
      cwd: world.folder,
      env: process.env,
      maxMessageBytes: 1_000_000,
    });
  const guard: GuardOptions = {
    hf,
    whose: { label, user, server: options.name ?? "noting" },
    ledger: world.ledger,
    rules: options.rules ?? {},
    repeat: options.repeat ?? "ask",
    withinMs: options.withinMs ?? 600_000,
    patienceMs: options.patienceMs ?? 30_000,
    aliveMs: options.aliveMs ?? 300,
    log,
    onEvent: options.onEvent,
  };
  const exit = runGateway({
    input,
    output,
    upstream,
    maxMessageBytes: 1_000_000,
    log,
    chaos: options.chaos,
    leaving: options.leaving,
    guard: options.unguarded ? undefined : (wires) => createGuard(guard, wires),
  }).finally(() => hf.close());
  const lines: string[] = [];
  const waiting = new Set<(message: Record<string, unknown>) => void>();
  const transport = {
    onmessage: undefined as ((message: unknown) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    async start() {},
    async send(message: object) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      this.onclose?.();
    },
  };
  void (async () => {
    for await (const line of linesOf(output, 10_000_000)) {
      if (line.tag === "too_long") continue;
      const text = line.bytes.toString();
      lines.push(text);
      const message = JSON.parse(text);
      for (const one of waiting) one(message);
      transport.onmessage?.(message);
    }
  })().catch(() => {});
  const end = async () => {
    input.end();
    return exit;
  };
  onTestFinished(async () => {
    input.end();
    upstream.signal("SIGKILL");
    await exit;
  });

  const client = raw ? undefined : await connect(version, transport, options.elicit);
  return {
    hf,
    lines,
    logged,
    async call(name, args = {}, { meta, ...how } = {}) {
      const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
      const called = client as unknown as { callTool(...args: unknown[]): Promise<Result> };
      return version === "v1"
        ? called.callTool(params, undefined, how)
        : called.callTool(params, how);
    },
    request: (method, params = {}) => {
      const id = `own-${lines.length}-${method}`;
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return new Promise((resolve) => {
        const hear = (message: Record<string, unknown>) => {
          if (message.id !== id) return;
          waiting.delete(hear);
          resolve(message);
        };
        waiting.add(hear);
      });
    },
    listTools: () => (client as FirstClient).listTools() as never,
    write: (line) => void input.write(`${line}\n`),
    next: (fits) =>
      new Promise((resolve) => {
        const hear = (message: Record<string, unknown>) => {
          if (!fits(message)) return;
          waiting.delete(hear);
          resolve(message);
        };
        waiting.add(hear);
      }),
    end,
    killServer() {
      upstream.signal("SIGKILL");
      return exit;
    },
    async die() {
      output.destroy();
      return end();
    },
  };
}

async function connect(
  version: Version,
  transport: object,
  elicit: HostOptions["elicit"],
): Promise<FirstClient | SecondClient> {
  const info = { name: "test-host", version: "1" };
  const capabilities = elicit ? { elicitation: { form: {} } } : {};
  const answer = (message: unknown) => {
    const said = elicit?.(String(message));
    if (said === "close") return { action: "cancel" as const };
    return { action: "accept" as const, content: { confirm: said === "yes" } };
  };
  if (version === "v1") {
    const client = new FirstClient(info, { capabilities });
    if (elicit) {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message));
    }
    await client.connect(transport as never);
    return client;
  }
  const client = new SecondClient(info, {
    capabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  if (elicit) {
    client.setRequestHandler("elicitation/create", ({ params }) => answer(params.message));
  }
  await client.connect(transport as never);
  return client;
}

/** What the model reads first. */
export const textIn = ({ content }: Result): string => content[0]?.text ?? "";

/** For what comes when it comes, also on a slow machine. */
export const PATIENT = { timeout: 20_000 } as const;
