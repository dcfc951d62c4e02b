/** What a person can see of a ledger from the command line, and how far their hand reaches. */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { createHoldfire } from "../../src/create.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { HIDDEN, ledgerWorld } from "./ledger-world.ts";
import { testTerminal } from "./test-terminal.ts";

const newFolder = temporaryFolder();

async function filled() {
  const world = ledgerWorld(newFolder());
  const outcomes = await world.fill();
  const json = async (...argv: string[]) => {
    const { out, err } = await world.run([...argv, "--json"]);
    return JSON.parse(out === "" ? err : out);
  };
  return { ...world, ...outcomes, json };
}

test("ls lists operations, the oldest first, with what became of them", async () => {
  const { run, json, committed, unknown, held } = await filled();
  const { exitCode, out } = await run(["ls"]);
  expect(exitCode).toBe(0);
  const [, first, second] = out.split("\n");
  expect(first).toMatch(new RegExp(`^${committed.key}  committed +\\d+ \\w+ +1  pay +chat-1$`));
  expect(second).toContain("unknown (run_failed)");
  expect(out).toContain(held.key);
  expect((await json("ls", "--open")).items.map(({ id }: { id: string }) => id)).toEqual([
    unknown.id,
    held.id,
  ]);
  const rejected = await json("ls", "--status", "not_applied", "--status", "denied");
  expect(rejected.items).toMatchObject([{ tool: "reject", reason: "rejected" }]);
  expect((await json("ls", "--tool", "pay", "--since", "1h")).items).toHaveLength(1);
  expect((await json("ls", "--since", "2200-01-01")).items).toEqual([]);
  const page = await json("ls", "--limit", "3");
  expect((await json("ls", "--cursor", page.cursor)).items).toHaveLength(1);
});

test("ls names the operations whose records are damaged, and lists the others", async () => {
  const { run, json, path, committed, unknown } = await filled();
  const db = new DatabaseSync(path);
  db.prepare("UPDATE operation SET text = '{' WHERE id = ?").run(unknown.id ?? "");
  db.close();
  const { exitCode, out, err } = await run(["ls"]);
  expect(exitCode).toBe(0);
  expect(out).toContain(committed.key);
  expect(err).toContain(`The record of operation ${unknown.id} is damaged.`);
  expect(await json("ls")).toMatchObject({ unreadable: [unknown.id] });
});

test.each([
  [["ls", "--status", "lost"], '--status cannot be "lost"'],
  [["ls", "--since", "yesterday"], '--since cannot be "yesterday"'],
  [["prune", "--payloads-older-than", "30"], '--payloads-older-than cannot be "30"'],
  [["watch", "--every", "0s"], '--every cannot be "0s"'],
  [["resolve", "k", "--by", "ana"], "either --committed or --not-applied"],
  [["resolve", "k", "--committed", "--not-applied", "--by", "ana"], "either --committed"],
  [["resolve", "k", "--committed"], "--by is missing"],
  [["approve", "k"], "--by is missing"],
  [["inbox", "--by", " "], "by"],
])("%j is wrong use", async (argv, message) => {
  const { run } = await filled();
  const { exitCode, err, out } = await run(argv);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
  expect(err).toContain(message);
});

test("show finds an operation by id, key and tool call, and tells its life", async () => {
  const { run, json, committed, unknown } = await filled();
  for (const name of [committed.id, committed.key, "call_0123456789abcdef", "call_fedcba"]) {
    expect(await json("show", name)).toMatchObject({ operation: { id: committed.id } });
  }
  const { out } = await run(["show", unknown.key]);
  expect(out).toContain("attempt 1 fired (first send)");
  expect(out).toContain("attempt 1 ended: unknown (0 requests): Error: reset\n");
  expect(out).toContain(`npx holdfire resolve ${unknown.key} --committed --by NAME --as-of`);
  const missing = await run(["show", "nothing-of-the-kind"]);
  expect(missing).toMatchObject({ exitCode: 1, out: "" });
  expect(missing.err).toContain("There is no operation");
});

test("show tells what an attempt failed with, and what the service said", async () => {
  const world = ledgerWorld(newFolder());
  const hf = createHoldfire({ store: sqliteStore({ path: world.path }) });
  class CardError extends Error {
    readonly status = 402;
    readonly code = "card_declined";
    readonly raw = { message: "Your card\u202e was declined." };
  }
  const pay = hf.tool({
    ...{ name: "pay", kind: "write", classify: () => "rejected" as const },
    run: (_: object) => Promise.reject(new CardError("402 from https://api.example/v1?key=k1")),
  });
  const { key } = await pay.outcome({}, { scope: "s" });
  await hf.close();
  const { out } = await world.run(["show", key]);
  expect(out).toContain(
    'attempt 1 ended: rejected (status 402, 0 requests): CardError: 402 from https://api.example/… (code card_declined); the service said "Your card\\u{202e} was declined."\n',
  );
});

test("show tells what was asked for, and what else of the scope is unknown", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  const first = await tools.lose.outcome({ to: "eve" }, { scope: "chat-2" });
  const second = await tools.lose.outcome({ to: "bob" }, { scope: "chat-2" });
  await tools.lose.outcome({ to: "mal" }, { scope: "another" });
  await hf.close();
  const { out } = await world.run(["show", first.key]);
  expect(out).toContain('intent  {"to":"eve"}');
  expect(out).toContain(
    `Also unknown in this scope:\n  ${second.key}  lose_reply  unknown (run_failed)  {"to":"bob"}\n`,
  );
  expect(out).not.toContain("mal");
  const told = await world.run(["resolve", first.key, "--committed", "--by", "ana"]);
  expect(told.err).toMatch(
    /^lose_reply in chat-2\nintent \{"to":"eve"\}\nattempt 1 ended: unknown/,
  );
  expect(told.out).toMatch(/: committed, by ana\nAlso unknown in this scope:\n.*"bob"/);
  // Settled: the ledger has wiped it.
  expect((await world.run(["show", first.key])).out).not.toContain("eve");
});

test("an intent that is encrypted is said to be, and one that fills a page is cut", async () => {
  const world = ledgerWorld(newFolder());
  const keys = { k1: new Uint8Array(32).fill(7) };
  const store = sqliteStore({ path: world.path });
  const hf = createHoldfire({ store, payloads: { encryption: { keyId: "k1", keys } } });
  const lose = hf.tool({
    ...{ name: "lose", kind: "write", attempts: 1 },
    run: (_: { text: string }) => Promise.reject(new Error("reset")),
  });
  const sealed = await lose.outcome({ text: "canary-4711" }, { scope: "s" });
  await hf.close();
  const { tools, hf: plain } = world.open();
  const long = await tools.lose.outcome({ to: "x".repeat(5_000) }, { scope: "t" });
  await plain.close();
  const { out } = await world.run(["show", sealed.key]);
  expect(out).toContain("intent  encrypted with a key that this command does not have");
  const lines = (await world.run(["show", long.key])).out.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
});

test("the beginning of a key or id names an operation, everywhere", async () => {
  const { run, json, committed, unknown, held } = await filled();
  for (const name of [committed.key.slice(0, 6), committed.id.slice(0, 12)]) {
    expect(await json("show", name)).toMatchObject({ operation: { id: committed.id } });
  }
  const [{ digest }] = (await json("inbox")).items;
  const short = held.key.slice(0, 8);
  expect(await run(["deny", short, "--by", "ana", "--digest", digest])).toMatchObject({
    exitCode: 0,
  });
  const settled = await json("resolve", unknown.id.slice(0, 12), "--committed", "--by", "ana");
  expect(settled).toMatchObject({ id: unknown.id, status: "committed" });
  const tooShort = await run(["show", committed.key.slice(0, 5)]);
  expect(tooShort).toMatchObject({ exitCode: 1, out: "" });
  expect(tooShort.err).toContain("at least 6 characters");
});

test("a beginning that several share lists them, and more of it chooses", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  // Their keys begin with the same six digits.
  const one = await tools.pay.outcome({ to: "p8119" }, { scope: "s" });
  const other = await tools.pay.outcome({ to: "p10025" }, { scope: "s" });
  await hf.close();
  const short = one.key.slice(0, 6);
  expect(other.key.slice(0, 6)).toBe(short);
  const { exitCode, err, out } = await world.run(["show", short]);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(err).toContain(`"${short}" names several operations: ${one.key} (pay, committed), `);
  expect(err).toContain("Give more of the key");
  const json = await world.run(["show", short, "--json"]);
  expect(JSON.parse(json.err).candidates).toMatchObject([{ id: one.id }, { id: other.id }]);
  const more = await world.run(["show", one.key.slice(0, 12), "--json"]);
  expect(JSON.parse(more.out)).toMatchObject({ operation: { id: one.id } });
});

test("of many operations that one name stands for, some are listed", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  const aliases = ["call_shared"];
  const keys: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    keys.push((await tools.pay.outcome({ to: `p${n}` }, { scope: "s", aliases })).key);
  }
  await hf.close();
  const { err } = await world.run(["show", "call_shared"]);
  expect(keys.filter((key) => err.includes(key))).toHaveLength(5);
  expect(err).toContain(", and more.");
});

test("an id that begins with a dash is an id", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  const { id } = await tools.pay.outcome({ to: "p143" }, { scope: "s" });
  await hf.close();
  expect(id).toMatch(/^-[^-]/);
  const { out } = await world.run(["show", id.slice(0, 12), "--json"]);
  expect(JSON.parse(out)).toMatchObject({ operation: { id } });
});

test("show does not choose between two operations of one tool call", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  const aliases = ["call_shared"];
  await tools.pay.outcome({ to: "a" }, { scope: "s", aliases });
  await tools.pay.outcome({ to: "b" }, { scope: "s", aliases });
  await hf.close();
  const { exitCode, err } = await world.run(["show", "call_shared"]);
  expect(exitCode).toBe(1);
  expect(err).toContain("names several operations");
});

test("inbox lists what waits, hidden characters made visible, and ends with 1", async () => {
  const { run, json, held } = await filled();
  const { exitCode, out } = await run(["inbox"]);
  expect(exitCode).toBe(1);
  expect(out).toContain("drop_bucket in chat-4");
  expect(out).toContain('"bucket": "logs"');
  expect(out).toContain("also: e-mails the owner");
  expect(out).toContain("-   files: 3\n  +   files: 0");
  expect(out).toContain("delete report\\u{202e}gpj.exe\\u{200b}");
  expect(out).not.toContain(HIDDEN);
  const { items } = await json("inbox");
  expect(items).toMatchObject([{ operation: { id: held.id }, answered: false }]);
});

test("approve takes the digest of what was shown; the call then fires, once", async () => {
  const { run, json, open, held, dropped } = await filled();
  const [{ digest }] = (await json("inbox")).items;
  const told = await run(["approve", held.key, "--by", "ana", "--note", "ok", "--digest", digest]);
  expect(told).toMatchObject({ exitCode: 0, out: "ana approved it. Make the call again.\n" });
  expect(dropped).toEqual([]);
  expect(await run(["inbox"])).toMatchObject({ exitCode: 0 });
  const { hf, tools } = open();
  const options = { scope: "chat-4" };
  expect(await tools.drop.outcome({ bucket: "logs" }, options)).toMatchObject({
    status: "committed",
  });
  await tools.drop.outcome({ bucket: "logs" }, options);
  await hf.close();
  expect(dropped).toHaveLength(1);
  expect((await run(["show", held.key])).out).toContain('ana approved: "ok"');
  const late = await run(["deny", held.key, "--by", "bob", "--digest", digest]);
  expect(late).toMatchObject({ exitCode: 1, out: "" });
  expect(late.err).toContain("has no open question");
});

test("without the digest, or with another one, nothing is answered", async () => {
  const { run, json, held } = await filled();
  const before = await json("show", held.id);
  const bare = await run(["approve", held.key, "--by", "ana"]);
  expect(bare).toMatchObject({ exitCode: 2, out: "" });
  expect(bare.err).toContain("--digest is missing");
  // A digest may begin with a dash, so what is printed has it after "=".
  expect((await run(["show", held.key])).out).toMatch(/approve \S+ --by NAME --digest=\S{43}\n/);
  expect(bare.err).toContain("also: e-mails the owner");
  const wrong = await run(["approve", held.key, "--by", "ana", "--digest", "other"]);
  expect(wrong).toMatchObject({ exitCode: 1 });
  expect(wrong.err).toContain("the question has changed");
  const stranger = await run(["approve", held.id, "--by", "eve", "--tenant", "other"]);
  expect(stranger).toMatchObject({ exitCode: 1 });
  expect(await json("show", held.id)).toEqual(before);
});

test("deny is final", async () => {
  const { run, json, open, held, dropped } = await filled();
  const [{ digest }] = (await json("inbox")).items;
  await run(["deny", held.key, "--by", "bob", "--note", "we need those", "--digest", digest]);
  const { hf, tools } = open();
  const outcome = await tools.drop.outcome({ bucket: "logs" }, { scope: "chat-4" });
  await hf.close();
  expect(outcome).toMatchObject({ status: "denied", by: "bob" });
  expect(dropped).toEqual([]);
  const yes = await run(["approve", held.key, "--by", "ana", "--digest", digest]);
  expect(yes).toMatchObject({ exitCode: 1 });
  expect((await run(["show", held.key])).out).toContain("ana approved (too late to count)");
});

test("resolve settles what is unknown, by name, and nothing else", async () => {
  const { run, json, unknown, held, committed } = await filled();
  const { operation } = await json("show", unknown.key);
  const by = ["--by", "ana", "--note", "the bank says so"];
  const stale = await run(["resolve", unknown.key, "--committed", "--as-of", "1", ...by]);
  expect(stale).toMatchObject({ exitCode: 1 });
  expect(stale.err).toContain("read it again");
  const asOf = ["--as-of", String(operation.at)];
  expect(await run(["resolve", unknown.key, "--committed", ...asOf, ...by])).toMatchObject({
    exitCode: 0,
  });
  const after = await json("show", unknown.key);
  expect(after.operation).toMatchObject({ status: "committed", via: "person", by: "ana" });
  for (const [{ key }, word] of [
    [unknown, "settled already"],
    [committed, "settled already"],
    [held, "approve or deny it instead"],
  ] as const) {
    const refused = await run(["resolve", key, "--not-applied", ...by]);
    expect(refused).toMatchObject({ exitCode: 1, out: "" });
    expect(refused.err).toContain(word);
  }
  expect(await json("show", unknown.key)).toEqual(after);
});

test("stats tells what a ledger knows, and what it cannot", async () => {
  const { run, json } = await filled();
  const stats = await json("stats");
  expect(stats).toMatchObject({
    operations: 4,
    byStatus: { committed: 1, unknown: 1, not_applied: 1, held: 1 },
    unknownRate: 1 / 3,
    unknownReasons: { run_failed: 1 },
    fired: 3,
    duplicatesSuppressed: { callsMetAgain: 1, foundByReading: 0 },
    hiddenRetries: { attempts: 0, extraRequests: 0 },
  });
  expect(stats.cannotTell).not.toEqual([]);
  const { out } = await run(["stats"]);
  expect(out).toMatch(/33\.3 % {2}unknown, of those that were fired/);
  expect(out).toContain("What a ledger cannot tell:");
});

test("prune wipes and forgets what is settled, and never what is open", async () => {
  const { json, run } = await filled();
  await pause(5);
  expect(await json("prune")).toEqual({ payloads: 0, tombstones: 0, stopped: false });
  const wiped = await json("prune", "--payloads-older-than", "1ms");
  expect(wiped).toMatchObject({ payloads: 2, tombstones: 0 });
  const { exitCode, out, terminal } = await run(["prune", "--tombstones-older-than", "1ms"]);
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: "Wiped 0 results, removed 2 operations.\n",
  });
  expect(terminal.statuses.at(-1)).toBe("");
  const { items } = await json("ls");
  expect(items.map(({ status }: { status: string }) => status)).toEqual(["unknown", "held"]);
});

test("trust ends a suspicion by name, and only where there is one", async () => {
  const { run, json, path, open } = await filled();
  expect(await json("trust", "--by", "ana")).toMatchObject({ suspect: null, trusted: false });
  // The ledger is replaced by one that has come less far.
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  const { hf, tools } = open();
  await tools.pay.outcome({ to: "bob" }, { scope: "new" }).catch(() => {});
  await hf.close();
  const suspect = await run(["trust"]);
  expect(suspect).toMatchObject({ exitCode: 1 });
  expect(suspect.out).toContain("is suspect");
  expect(await run(["trust", "--by", "ana"])).toMatchObject({ exitCode: 0 });
  expect(await run(["trust"])).toMatchObject({ exitCode: 0 });
});

test("watch prints what changes, until it is stopped", async () => {
  const world = ledgerWorld(newFolder());
  await world.fill();
  const stop = new AbortController();
  const terminal = testTerminal({ cwd: world.folder, now: Date.now, signal: stop.signal });
  const argv = ["watch", "--every", "10ms", "--json", "--store", world.path];
  const watching = runCommandLine(argv, COMMANDS, terminal);
  // What was there before is no news: the first change that it prints is made once it looks.
  const { hf, tools } = world.open();
  for (let turn = 0; terminal.printed() === ""; turn += 1) {
    await tools.pay.outcome({ to: `c${turn}` }, { scope: "later" });
    await pause(20);
  }
  stop.abort();
  expect(await watching).toBe(0);
  await hf.close();
  const lines = terminal.printed().trim().split("\n");
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ tool: "pay", scope: "later" });
});

test("what cannot be opened here is not approved here", async () => {
  const world = ledgerWorld(newFolder());
  const encryption = { keyId: "k1", keys: { k1: new Uint8Array(32).fill(7) } };
  const hf = createHoldfire({
    store: sqliteStore({ path: world.path }),
    payloads: { encryption },
  });
  const drop = hf.tool({
    ...{ name: "drop", kind: "destructive", keyed: { forMs: 1_000 } },
    run: async (_: { bucket: string }, { key }) => key,
  });
  const { key } = await drop.outcome({ bucket: "canary" }, { scope: "s" });
  await hf.close();
  const { out } = await world.run(["inbox"]);
  expect(out).toContain("encrypted with a key that this command does not have");
  expect(out).not.toContain("canary");
  const asked = await world.run(["approve", key, "--by", "ana"], { isInteractive: true });
  expect(asked).toMatchObject({ exitCode: 1 });
  expect(asked.err).toContain("cannot be shown here");
});
