/**
 * The cells of the storm: which calls are made, what may arrive for each, and what did.
 *
 * @module
 */

import pRetry from "p-retry";
import { Agent, RetryAgent, request } from "undici";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import {
  type CountingServer,
  FAILURES,
  type Failure,
  startCounting,
} from "../../test/servers/counting-server.ts";
import { MODELS } from "./models.ts";
import type { Call, Row } from "./rows.ts";
import { fetchLoop, SERVICES } from "./services.ts";

export interface Cell {
  readonly row: string;
  readonly failure: Failure;
  readonly column: string;
  /** What must arrive; `undefined` where holdfire has no say. */
  readonly expected?: number | undefined;
  readonly call: (server: CountingServer, hf: Holdfire) => Promise<unknown>;
}

export interface Counted extends Omit<Cell, "call"> {
  readonly arrived: number;
  /** It was still going on when the time was up. */
  readonly goesOn: boolean;
  /** The event `hidden_retry`, added up. */
  readonly reported: number;
  readonly ok: boolean;
}

export const COLUMNS = {
  bare: "defaults",
  outer: "in p-retry (3)",
  one: "holdfire 1",
  three: "holdfire 3",
  asking: "call asks for 3",
  clone: "clone before",
} as const;

const THRICE = { retries: 2, minTimeout: 1, maxTimeout: 5 };
const inPRetry =
  (call: Call): Call =>
  (server) =>
    pRetry(() => call(server), THRICE);

export function cellsOf({ quick }: { readonly quick: boolean }): readonly Cell[] {
  return [...MODELS, ...SERVICES].flatMap((row) =>
    (row.failures ?? FAILURES).flatMap((failure) => [
      ...(quick ? [] : freeCells(row, failure)),
      ...ownedCells(row, failure),
    ]),
  );
}

function freeCells({ name, bare }: Row, failure: Failure): Cell[] {
  return [
    { row: name, failure, column: COLUMNS.bare, call: bare },
    { row: name, failure, column: COLUMNS.outer, call: inPRetry(bare) },
  ];
}

function ownedCells({ name, owned, asking, clone }: Row, failure: Failure): Cell[] {
  const cell = (column: string, expected: number, make: Row["clone"]): Cell[] =>
    make
      ? [{ row: name, failure, column, expected, call: (server, hf) => make(server, hf, expected) }]
      : [];
  return [
    ...cell(COLUMNS.one, 1, owned),
    ...cell(COLUMNS.three, 3, owned),
    ...cell(COLUMNS.asking, 3, asking),
    ...cell(COLUMNS.clone, 3, clone),
  ];
}

/** A write with neither key nor reader: p-retry calls again, the record answers. */
export const guardedWrites: readonly Cell[] = FAILURES.map((failure) => ({
  row: "a guarded write",
  failure,
  column: COLUMNS.outer,
  expected: 1,
  call: (server, hf) => {
    const write = hf.tool({
      name: "pay_out",
      kind: "write",
      run: async (_: object) => {
        const signal = AbortSignal.timeout(server.patienceMs);
        const { ok, status } = await fetch(server.url, { method: "POST", signal });
        if (!ok) throw Object.assign(new Error("The service said no."), { status });
      },
    });
    return pRetry(() => write({}, { scope: "storm" }), THRICE);
  },
}));

const inTool = (name: string, call: Call): Cell => ({
  row: name,
  failure: "503",
  column: "arrived",
  call: (server, hf) => {
    const tool = hf.tool({
      name: "act",
      kind: "write",
      run: async (_: object) => void (await call(server)),
    });
    return tool.outcome({}, { scope: "storm" });
  },
});

/** Retries that nobody switched off: as many as arrive must be reported. */
export const hiddenRetries: readonly Cell[] = [
  inTool("a fetch loop in a tool", fetchLoop),
  inTool("an undici RetryAgent", async ({ url }) => {
    const agent = new Agent();
    const dispatcher = new RetryAgent(agent, { minTimeout: 1, maxTimeout: 5 });
    await request(url, { method: "PUT", body: "{}", dispatcher }).finally(() => agent.destroy());
  }),
];

const soon = (ms: number): Promise<"goes on"> =>
  new Promise((resolve) => {
    setTimeout(() => resolve("goes on"), ms).unref();
  });

export async function countCell({ call, ...cell }: Cell, capMs: number): Promise<Counted> {
  const server = await startCounting(cell.failure);
  const hf = createHoldfire({
    store: memoryStore({ forgets: "accepted" }),
    retry: { minDelayMs: 1, maxDelayMs: 1 },
  });
  let reported = 0;
  hf.on("warning", (event) => {
    if (event.code === "hidden_retry") reported += event.count;
  });
  const over = (async () => call(server, hf))().then(
    () => "over" as const,
    () => "over" as const,
  );
  // What holdfire decides is waited for; how long others go on is not.
  const ending = cell.expected === undefined ? await Promise.race([over, soon(capMs)]) : await over;
  const goesOn = ending !== "over";
  const arrived = server.arrivals.length;
  await server.close();
  if (!goesOn) await hf.close();
  const wanted = cell.column === "arrived" ? reported : cell.expected;
  return { ...cell, arrived, goesOn, reported, ok: wanted === undefined || wanted === arrived };
}
