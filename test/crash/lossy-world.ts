/**
 * A service, a ledger that will lose data, and processes that open it: what the scenarios of a loss
 * need.
 *
 * @module
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { CallOptions } from "../../src/engine/define/definition.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import {
  type EffectBody,
  type FaultyService,
  startFaultyService,
  type ToolClass,
} from "../../src/testing/faulty-service.ts";
import { openPlace } from "../processes/place.ts";
import { lookUp } from "../scenarios/world.ts";
import type { FallibleLedger, Loss } from "./losses.ts";

type Class = Extract<ToolClass, "keyed" | "readable" | "conditional" | "neither">;
type Tools = Record<Class, GuardedTool<{ readonly item: string }, EffectBody>>;

export const CLASSES: readonly Class[] = ["keyed", "readable", "conditional", "neither"];
const DAY_MS = 86_400_000;

/** A holdfire as one process has it. */
export interface Opened {
  readonly hf: Holdfire;
  readonly tools: Tools;
  /** What was said against the store. */
  readonly suspicions: string[];
  /** How often a tool has sent since it was opened, or since `from`. */
  sends(toolClass: Class, item: string, from?: number): number;
  close(): Promise<void>;
}

export interface LossyWorld {
  readonly ledger: FallibleLedger;
  readonly service: FaultyService;
  open(): Promise<Opened>;
}

/** `undefined` where there is no such server. */
export async function startLossyWorld(start: Loss["start"]): Promise<LossyWorld | undefined> {
  const ledger = await start();
  if (!ledger) return undefined;
  const service = await startFaultyService();
  const folder = await mkdtemp(join(tmpdir(), "holdfire-witness-"));
  const ends = [ledger.stop, service.close, () => rm(folder, { recursive: true, force: true })];
  onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return {
    ledger,
    service,
    async open() {
      const opened = await open(ledger, service, folder);
      ends.push(opened.close);
      return opened;
    },
  };
}

async function open(
  ledger: FallibleLedger,
  service: FaultyService,
  folder: string,
): Promise<Opened> {
  const { store, end } = await openPlace(ledger.place());
  const hf = createHoldfire({ store, witness: fileWitness({ folder }) });
  const suspicions: string[] = [];
  hf.on("store", (event) => {
    if (event.status === "suspect") suspicions.push(event.why);
  });
  const from = service.arrivals.length;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= hf.close().then(end);
    return closing;
  };
  return {
    hf,
    tools: toolsOf(hf, service),
    suspicions,
    sends: (toolClass, item, since = from) =>
      service.arrivals
        .slice(since)
        .filter(({ path, body }) => path.includes(`/${toolClass}/`) && body.includes(`"${item}"`))
        .length,
    close,
  };
}

function toolsOf(hf: Holdfire, service: FaultyService): Tools {
  const tool = (toolClass: Class, powers: object) => {
    const client = service.client(toolClass);
    return hf.tool<{ readonly item: string }, EffectBody>({
      name: `order_${toolClass}`,
      kind: "write",
      run: (args, { key, signal }) =>
        toolClass === "conditional"
          ? client.put(args.item, args, { key, signal })
          : client.create(args, { key, signal }),
      deadlineMs: 10_000,
      ...powers,
    });
  };
  return {
    keyed: tool("keyed", { keyed: { forMs: DAY_MS } }),
    readable: tool("readable", {
      readState: lookUp(service.client("readable")),
      commitsWithinMs: 50,
      // Less than the lease that a lost owner may believe in: an absence proves nothing yet.
      deadlineMs: 500,
    }),
    conditional: tool("conditional", {
      precondition: "given",
      readState: lookUp(service.client("conditional")),
    }),
    neither: tool("neither", {}),
  };
}

/** Everything is asked for in one scope, unless told otherwise. */
export const ask = (
  tool: Tools[Class],
  item: string,
  options: CallOptions = { scope: "request" },
): ReturnType<Tools[Class]["outcome"]> => tool.outcome({ item }, options);

export async function callAll({ tools }: Opened, item: string): Promise<void> {
  for (const toolClass of CLASSES) {
    expect(await ask(tools[toolClass], item)).toMatchObject({ status: "committed" });
  }
}

/** What was minted before a loss is sent again by its key alone; else it is read, or stays in doubt. */
export async function expectNothingNew(opened: Opened, world: LossyWorld): Promise<void> {
  const { tools, suspicions, sends, hf } = opened;
  const effects = world.service.effects.length;
  const from = world.service.arrivals.length;
  const keyed = await ask(tools.keyed, "newer");
  expect(suspicions).toHaveLength(1);
  expect(keyed).toMatchObject({ status: "committed", licence: "keyed" });
  expect(sends("keyed", "newer", from)).toBe(1);
  expect(await ask(tools.readable, "newer")).toMatchObject({ status: "committed" });
  expect(sends("readable", "newer", from)).toBe(0);
  expect(await ask(tools.conditional, "newer")).toMatchObject({ status: "committed" });
  expect(sends("conditional", "newer", from)).toBe(0);
  const neither = await ask(tools.neither, "newer");
  expect(neither).toMatchObject({ status: "unknown", reason: "store_lost" });
  expect(sends("neither", "newer", from)).toBe(0);

  expect(world.service.effects).toHaveLength(effects);
  const { items } = await hf.operations.list({ open: true });
  expect(items.map(({ id }) => id)).toEqual([neither.id]);
}
