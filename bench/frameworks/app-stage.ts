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

export interface AppStage {
  readonly service: FaultyService;
  /** The model's next words; after them it says "ok". */
  says(...sayings: readonly Saying[]): void;
  /** Runs the app over each of these conversations, in one process, to its end. */
  run(...runs: readonly (readonly string[])[]): Promise<void>;
  /** Runs it until its first effect, and kills it there. */
  kill(said: readonly string[]): Promise<void>;
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

/** Plays on a stage of its own. */
export async function watchApp(
  name: string,
  play: (stage: AppStage) => Promise<void>,
): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-app-"));
  const tokens = await startTokens();
  const model = await startModelServer();
  model.usually({ act: "say", saying: { text: "ok" } });
  await using service = await startFaultyService();
  const traced: string[] = [];
  let complained = "";

  function start(runs: AppOrder["runs"]) {
    const { openai, anthropic } = model;
    const order: AppOrder = {
      name,
      runs,
      ledger: join(folder, "ledger.db"),
      bank: service.url,
      tokens: tokens.url,
      model: { openai, anthropic },
    };
    const child = spawn(process.execPath, [PROCESS, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { child, printed: text(child.stdout), errors: text(child.stderr) };
  }

  try {
    await play({
      service,
      says: (...sayings) =>
        model.script(...sayings.map((saying) => ({ act: "say", saying }) as const)),
      async run(...runs) {
        const { child, printed, errors } = start(runs);
        const code = await ended(child);
        complained += await errors;
        if (code !== 0) throw new Error(`The app ended with ${code}: ${complained}`);
        const outcomes: string[] = JSON.parse(await printed);
        traced.push(...outcomes);
      },
      async kill(said) {
        const { child } = start([said]);
        await effectIn(service);
        child.kill("SIGKILL");
        await ended(child);
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
