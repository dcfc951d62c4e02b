import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SIZE, sized } from "../proof.ts";
import { type Child, startChild } from "./child.ts";
import type { TagOrder, TagReport } from "./lane-tagger.ts";
import type { Place } from "./place.ts";
import { startTagService, type TagService } from "./tag-service.ts";

const PROCESSES = 4;
const AGENTS = 2;
const ROUNDS = sized("ROUNDS", 200, 40);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfire-lanes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const tagsOf = (process: number, agent: number): string[] =>
  Array.from({ length: ROUNDS / PROCESSES / AGENTS }, (_, n) => `p${process}-a${agent}-${n}`);

const agentsOf = (process: number): string[][] =>
  Array.from({ length: AGENTS }, (_, agent) => tagsOf(process, agent));

/** No power is cut here, so nobody waits for the disk. */
const placeOf = (ledger: string): Place => ({
  store: "sqlite",
  path: join(folder, ledger, "ledger.db"),
  durability: "process",
});

async function start(order: TagOrder): Promise<Child> {
  const child = startChild("lane-tagger.ts", import.meta.url);
  child.send(order);
  await child.next("ready");
  return child;
}

async function addTags(service: TagService, lanes: boolean, ledger: string): Promise<string[]> {
  const orderOf = (process: number): TagOrder => ({
    tag: "add-tags",
    place: placeOf(ledger),
    witness: join(folder, ledger, "witness"),
    url: service.url,
    lanes,
    agents: agentsOf(process),
  });
  const children = await Promise.all(
    Array.from({ length: PROCESSES }, (_, process) => start(orderOf(process))),
  );
  try {
    for (const child of children) child.send({ tag: "go" });
    const reports = await Promise.all(children.map((child) => child.next<TagReport>("added")));
    return reports.flatMap(({ undone }) => undone);
  } finally {
    await Promise.all(children.map(({ ended }) => ended));
  }
}

const all = Array.from({ length: PROCESSES }, (_, process) => agentsOf(process).flat()).flat();

test(`with lanes, agents in ${PROCESSES} processes lose no tag of ${ROUNDS} (${SIZE})`, async () => {
  const service = await startTagService();
  try {
    expect(await addTags(service, true, "with")).toEqual([]);
    expect(service.tags().toSorted()).toEqual(all.toSorted());
    expect(service.writes()).toBe(ROUNDS);
    expect(service.most()).toBe(1);
  } finally {
    await service.close();
  }
}, 60_000);

test("without lanes they lose some, and nobody is told", async () => {
  const service = await startTagService();
  try {
    expect(await addTags(service, false, "without")).toEqual([]);
    expect(service.writes()).toBe(ROUNDS);
    expect(service.tags().length).toBeLessThan(ROUNDS);
    process.stdout.write(`lanes: without them ${ROUNDS - service.tags().length} tags were lost\n`);
  } finally {
    await service.close();
  }
}, 60_000);

test("a process that dies in the lane shuts it, and the others are told by whom", async () => {
  const service = await startTagService();
  const order = {
    tag: "add-tags",
    place: placeOf("dies"),
    witness: join(folder, "dies", "witness"),
    url: service.url,
    lanes: true,
    attemptTimeoutMs: 2_000,
  } as const;
  const dying = await start({ ...order, agents: [["a", "b"]], dieAt: "b" });
  const living = await start({ ...order, agents: [["c"]] });
  try {
    dying.send({ tag: "go" });
    expect(await dying.ended).toMatchObject({ signal: "SIGKILL" });
    living.send({ tag: "go" });
    const { undone } = await living.next<TagReport>("added");
    expect(undone).toEqual([expect.stringMatching(/^c: held \S{20,}$/)]);
    // What the dead one was about to write is not known to have been written: nobody wrote over it.
    expect(service.tags()).toEqual(["a"]);
    await living.ended;
  } finally {
    await service.close();
  }
}, 60_000);
