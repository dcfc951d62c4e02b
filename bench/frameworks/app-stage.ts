/**
 * What an app plays on: the faulty service and the scripted model of the cells, with a token endpoint beside them, and the
 * app as a process that can be killed.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { approveAll } from "../../examples/support/person.ts";
import { startTokens } from "../../examples/support/tokens.ts";
import { type FaultyService, startFaultyService } from "../../src/testing/faulty-service.ts";
import {
  type ModelServer,
  type Saying,
  startModelServer,
} from "../../test/servers/model-server.ts";
import { type Message, textsIn } from "../../test/servers/tool-texts.ts";
import type { AppOrder } from "./app-process.ts";
import { effectIn } from "./columns.ts";

/** What a person asks for, and what the model makes of it; after that it says "ok". */
export interface Request {
  /** What persons have said so far. */
  readonly said: readonly string[];
  readonly says: readonly Saying[];
}

export interface AppStage {
  readonly service: FaultyService;
  /** Runs the app on each of these requests, in one process, to its end. */
  run(...requests: readonly Request[]): Promise<void>;
  /** Runs it until its first effect, and kills it there. */
  kill(request: Request): Promise<void>;
}

/** What a play left behind. */
export interface Seen {
  /** The writes that arrived at the service. */
  readonly sent: number;
  /** Those that took effect. */
  readonly paid: number;
  readonly tokens: number;
  /** The outcomes that the model read, in order. */
  readonly told: readonly string[];
  /** The same, as the spans have it, of the runs that came to their end. */
  readonly traced: readonly string[];
  /** What the processes wrote to stderr. */
  readonly complained: string;
}

const PROCESS = fileURLToPath(new URL("app-process.ts", import.meta.url));

export interface App {
  readonly title: string;
  /** Of the program in `examples/`. */
  readonly name: string;
  /** Its payouts wait for a person, who approves them on the command line; then it is run again. */
  readonly asks?: boolean;
}

/** Plays on a stage of its own. */
export async function watchApp(
  { name, asks = false }: App,
  play: (stage: AppStage) => Promise<void>,
): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-app-"));
  const tokens = await startTokens();
  const model = await startModelServer();
  await using service = await startFaultyService();
  const ledger = join(folder, "ledger.db");
  const approved = new Set<string>();
  const traced: string[] = [];
  let complained = "";

  function start(requests: readonly Request[]) {
    for (const { says } of requests) {
      for (const saying of [...says, { text: "ok" }]) model.script({ act: "say", saying });
    }
    const { openai, anthropic } = model;
    const order: AppOrder = {
      name,
      runs: requests.map(({ said }) => said),
      ledger,
      bank: service.url,
      tokens: tokens.url,
      model: { openai, anthropic },
    };
    const child = spawn(process.execPath, [PROCESS, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { child, printed: text(child.stdout), errors: text(child.stderr) };
  }

  async function finish(...requests: readonly Request[]): Promise<void> {
    const { child, printed, errors } = start(requests);
    const code = await ended(child);
    complained += await errors;
    if (code !== 0) throw new Error(`The app ended with ${code}: ${complained}`);
    const outcomes: string[] = JSON.parse(await printed);
    traced.push(...outcomes);
  }

  /** The first call of a request is held, and a person approves it. */
  async function approve({ said, says }: Request): Promise<void> {
    const request = JSON.stringify(said);
    if (!asks || approved.has(request)) return;
    await finish({ said, says: says.slice(0, 1) });
    await approveAll(ledger, "ana");
    approved.add(request);
  }

  try {
    await play({
      service,
      async run(...requests) {
        if (!asks) return finish(...requests);
        for (const request of requests) {
          await approve(request);
          await finish(request);
        }
      },
      async kill(request) {
        await approve(request);
        const { child } = start([{ ...request, says: request.says.slice(0, 1) }]);
        await effectIn(service);
        child.kill("SIGKILL");
        await ended(child);
        model.forget();
      },
    });
    const { arrivals, effects } = service;
    const counted = { sent: arrivals.length, paid: effects.length, tokens: tokens.granted };
    return { ...counted, told: toldBy(model), traced, complained };
  } finally {
    await Promise.all([model.close(), tokens.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("close", resolve));

/** A request to the model that follows a tool call ends with the result of the tool. */
function toldBy({ arrivals }: ModelServer): readonly string[] {
  return arrivals.flatMap(({ body }) => {
    const messages = (body?.messages ?? body?.input ?? []) as readonly Message[];
    return messages
      .slice(-1)
      .flatMap(textsIn)
      .map((result) => JSON.parse(result).outcome);
  });
}
