import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import {
  type Anchor,
  anchorFor,
  monotonicMs,
  thisHost,
} from "../../src/stores/sqlite/boot-clock.ts";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const KNOWN: Anchor = { boot: "boot-1", base: 1_000_000 };
const NOW = 1_005_000;

describe("the anchor of the clock", () => {
  test("stays for the whole of a boot, wherever the wall clock is set", () => {
    for (const wall of [0, 1_010_000, 9e12]) {
      const host = { boot: "boot-1", monotonic: 10_000, wall };
      expect(anchorFor(KNOWN, NOW, host)).toEqual({ anchor: KNOWN, rebooted: false });
    }
  });

  test("is made anew after a boot, from the wall clock", () => {
    const host = { boot: "boot-2", monotonic: 50, wall: 2_000_000 };
    const { anchor, rebooted } = anchorFor(KNOWN, NOW, host);
    expect(rebooted).toBe(true);
    expect(anchor).toEqual({ boot: "boot-2", base: 1_999_950 });
  });

  test("is made anew also if the host has been up for longer than before", () => {
    const host = { boot: "boot-2", monotonic: 10_000, wall: 2_000_000 };
    const { anchor, rebooted } = anchorFor(KNOWN, NOW, host);
    expect(rebooted).toBe(true);
    expect(anchor).toEqual({ boot: "boot-2", base: 1_990_000 });
  });

  test("never sets time back, though the wall clock was", () => {
    const host = { boot: "boot-2", monotonic: 50.5, wall: 7 };
    const { anchor } = anchorFor(KNOWN, NOW, host);
    expect(anchor.base + host.monotonic).toBeGreaterThanOrEqual(NOW);
  });

  test("tells a boot without a name by a monotonic clock that went back", () => {
    const known = { boot: "", base: 1_000_000 };
    const same = { boot: "", monotonic: 6_000, wall: 5 };
    expect(anchorFor(known, NOW, same)).toEqual({ anchor: known, rebooted: false });
    const atOnce = { boot: "", monotonic: 5_000, wall: 5 };
    expect(anchorFor(known, NOW, atOnce)).toEqual({ anchor: known, rebooted: false });
    const other = anchorFor(known, NOW, { boot: "", monotonic: 10, wall: 1_007_000 });
    expect(other).toEqual({ anchor: { boot: "", base: 1_006_990 }, rebooted: true });
  });

  test("is one for processes that may read the name of the boot and those that may not", () => {
    const nameless = { boot: "", monotonic: 10_000, wall: 9e12 };
    expect(anchorFor(KNOWN, NOW, nameless)).toEqual({ anchor: KNOWN, rebooted: false });
    const known = { boot: "", base: 1_000_000 };
    const named = { boot: "boot-1", monotonic: 10_000, wall: 9e12 };
    expect(anchorFor(known, NOW, named)).toEqual({ anchor: known, rebooted: false });
    expect(anchorFor(KNOWN, NOW, { ...nameless, monotonic: 10 }).rebooted).toBe(true);
    const neverOpened = { boot: "none", base: 0 };
    const { anchor } = anchorFor(neverOpened, 0, nameless);
    expect(anchor).toEqual({ boot: "", base: 9e12 - 10_000 });
  });

  test("moves on within a boot when time has been ahead, and ends no lease", () => {
    const host = { boot: "boot-1", monotonic: 100, wall: 9e12 };
    const { anchor, rebooted } = anchorFor(KNOWN, NOW, host);
    expect(rebooted).toBe(false);
    expect(anchor.base + host.monotonic).toBe(NOW);
  });
});

describe("the clock of a store", () => {
  const edit = (path: string, sql: string) => {
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
  };

  test("starts at the time of day, and is one for all stores on the file", async () => {
    const path = join(newFolder(), "ledger.db");
    const before = Date.now();
    const [one, other] = [sqliteStore({ path }), sqliteStore({ path })];
    const first = (await one.open()).now;
    const second = (await other.open()).now;
    const third = (await one.open()).now;
    expect(first).toBeGreaterThanOrEqual(before - 1);
    expect(first).toBeLessThanOrEqual(Date.now() + 1);
    expect(second).toBeGreaterThanOrEqual(first);
    expect(third).toBeGreaterThanOrEqual(second);
    await one.close();
    await other.close();
  });

  test("goes with the host's monotonic clock", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    await store.open();
    const earliest = monotonicMs();
    const { now } = await store.open();
    const latest = monotonicMs();
    await store.close();
    const db = new DatabaseSync(path);
    const base = Number(db.prepare("SELECT base FROM ledger").get()?.base);
    db.close();
    expect(now - base).toBeGreaterThanOrEqual(Math.floor(earliest) - 1);
    expect(now - base).toBeLessThanOrEqual(latest);
  });

  test("has every lease of an earlier boot behind it, and time goes on", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    const claim = await mustSwap(store, { ...create(recordOf()), lease: 600_000 });
    const kept = await mustSwap(store, { ...create(recordOf({ id: "b" })), lease: "none" });
    await store.close();
    const ahead = claim.now + 3_600_000;
    edit(path, `UPDATE ledger SET boot = 'another boot', now = ${ahead}`);

    const after = sqliteStore({ path });
    const { now } = await after.open();
    expect(now).toBeGreaterThanOrEqual(ahead);
    const { leaseUntil, version } = await mustRead(after, "acme", "operation-1");
    expect(leaseUntil).toBeLessThanOrEqual(now);
    expect(version).toBe(claim.version);
    expect(await mustRead(after, "acme", "b")).toMatchObject({
      version: kept.version,
      leaseUntil: undefined,
    });
    await after.close();
  });

  test("ends a lease of an earlier boot at the boot, however short the host was down", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    const claim = await mustSwap(store, { ...create(recordOf()), lease: 600_000 });
    await store.close();
    edit(path, "UPDATE ledger SET boot = 'another boot'");

    const after = sqliteStore({ path });
    const { now } = await after.open();
    expect(now).toBeLessThan(claim.now + 600_000);
    const { leaseUntil } = await mustRead(after, "acme", "operation-1");
    expect(leaseUntil).toBeLessThanOrEqual(now);
    expect(leaseUntil).toBeGreaterThanOrEqual(claim.now);
    await after.close();
  });

  test("that was ahead within this boot goes on from there, and ends no lease", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    const { leaseUntil = 0 } = await mustSwap(store, { ...create(recordOf()), lease: 600_000 });
    await store.close();
    const ahead = leaseUntil - 300_000;
    edit(path, `UPDATE ledger SET now = ${ahead}`);

    const after = sqliteStore({ path });
    expect((await after.open()).now).toBeGreaterThanOrEqual(ahead);
    expect((await mustRead(after, "acme", "operation-1")).leaseUntil).toBe(leaseUntil);
    await after.close();
  });

  test("is found without a lock: a store is opened while another process writes", () => {
    const path = join(newFolder(), "ledger.db");
    const first = connect(path, "full", thisHost());
    first.db.exec("BEGIN IMMEDIATE");
    const second = connect(path, "full", thisHost());
    expect(second.anchor).toEqual(expect.objectContaining({ base: first.anchor?.base }));
    second.db.close();
    first.db.close();
  });

  test("keeps a lease over a restart within one boot", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    const { leaseUntil } = await mustSwap(store, { ...create(recordOf()), lease: 600_000 });
    await store.close();
    const after = sqliteStore({ path });
    expect((await mustRead(after, "acme", "operation-1")).leaseUntil).toBe(leaseUntil);
    expect((await after.open()).now).toBeLessThan(leaseUntil ?? 0);
    await after.close();
  });

  test("is not shared with another machine: the write is refused", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    edit(path, "UPDATE ledger SET boot = 'of another machine'");
    await expect(store.swap(create(recordOf({ id: "b" })))).rejects.toThrow(/another machine/);
    expect((await store.read("acme", "b")).stored).toBeUndefined();
    await store.close();
  });
});
