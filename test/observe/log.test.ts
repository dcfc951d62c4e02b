import { describe, expect, test } from "vitest";
import { createHoldfire, type Logger, logTo } from "../../src/index.ts";
import { createEvents, type Events } from "../../src/observe/events.ts";
import { keyHash } from "../../src/observe/otel.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { virtualClock } from "../engine/virtual-clock.ts";

const SECRET = "canary-4711";
const UNKNOWN = {
  kind: "write",
  by: "call",
  status: "unknown",
  reason: "deadline",
  attempts: 1,
  replayed: false,
  recorded: true,
  durationMs: 1,
} as const;
const ABOUT = { tool: "t", id: "id", key: "key", tenant: "default", scope: "s" };

function collect() {
  const lines: string[] = [];
  const at = (level: keyof Logger) => (line: string) => lines.push(`${level} ${line}`);
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return { lines, logger };
}

const open = () => {
  const clock = virtualClock();
  const { now } = clock;
  const store = memoryStore({ now, forgets: "accepted" });
  return { clock, hf: createHoldfire({ store, surroundings: { clock, random: () => 0.5 } }) };
};

describe("a call", () => {
  test("is told line by line, with a hash in place of its key", async () => {
    const { hf, clock } = open();
    const { lines, logger } = collect();
    logTo(hf, logger);
    const tool = hf.tool({ name: "pay out", kind: "write", run: async (_: object) => 1 });
    const { key } = await clock.run(tool.outcome({}, { scope: "s" }));
    expect(lines).toEqual([
      `info holdfire attempt tool="pay out" attempt=1 licence=first keyHash=${keyHash(key)}`,
      `info holdfire verdict tool="pay out" attempt=1 verdict=committed wireRequests=0 durationMs=0 keyHash=${keyHash(key)}`,
      `info holdfire outcome tool="pay out" status=committed via=reply licence=first attempts=1 replayed=false durationMs=0 keyHash=${keyHash(key)}`,
    ]);
  });

  test("no line holds arguments, results, keys, ids, scopes or what an error says", async () => {
    const { hf, clock } = open();
    const { lines, logger } = collect();
    logTo(hf, logger, { level: "debug" });
    const error = Object.assign(new RangeError(SECRET), { code: "E_LIMIT", config: SECRET });
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async ({ card, fails }: { card: string; fails: boolean }) => {
        if (fails) throw error;
        return { card };
      },
      readState: () => {
        throw error;
      },
    });
    const scope = `${SECRET}-scope`;
    const good = await clock.run(tool.outcome({ card: SECRET, fails: false }, { scope }));
    const bad = await clock.run(tool.outcome({ card: SECRET, fails: true }, { scope }));
    expect([good.status, bad.status]).toEqual(["committed", "unknown"]);
    const all = lines.join("\n");
    for (const word of [SECRET, good.key, good.id, bad.key, bad.id])
      expect(all).not.toContain(word);
    expect(all).toContain("error=RangeError code=E_LIMIT");
    expect(lines).toContainEqual(
      expect.stringMatching(/^warn holdfire outcome tool=t status=unknown reason=/),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^warn holdfire warning code=reader_failed tool=t which=readState /),
    );
  });

  test("what errors say is told to those who ask for it, escaped and cut", async () => {
    const { hf, clock } = open();
    const { lines, logger } = collect();
    logTo(hf, logger, { errors: "messages" });
    const said = `no\n2026-01-01 info "all is well"\u202e\u001b[31m\\ ${"x".repeat(10_000)}`;
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: object) => {
        throw new Error(said);
      },
    });
    await clock.run(tool.outcome({}, { scope: "s" }));
    const line = lines.find((each) => each.includes("holdfire verdict")) ?? "";
    expect(line).toContain(
      'message="no\\n2026-01-01 info \\"all is well\\"\\u{202e}\\u{1b}[31m\\\\ xxx',
    );
    expect(line.endsWith('x…"')).toBe(true);
    expect(line.length).toBeLessThan(600);
    for (const hidden of ["\n", "\u001b", "\u202e"]) expect(lines.join("")).not.toContain(hidden);
  });
});

describe("names from elsewhere", () => {
  test.each([
    ["a\nb", '"a\\nb"'],
    ["a\u202eb", '"a\\u{202e}b"'],
    ['a" level="x', '"a\\" level=\\"x"'],
    ["a\\", '"a\\\\"'],
    ["", '""'],
    ["a=b", '"a=b"'],
    ["x".repeat(400), `"${"x".repeat(200)}…"`],
  ])("%j cannot be taken for more than one value", (tool, shown) => {
    const events = createEvents();
    const { lines, logger } = collect();
    logTo(events, logger);
    events.emit("takeover", () => ({ ...ABOUT, tool, epoch: 2 }));
    expect(lines).toEqual([
      `warn holdfire takeover tool=${shown} epoch=2 keyHash=${keyHash("key")}`,
    ]);
  });

  const hostile = (): object =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error(SECRET);
        },
      },
    );

  test.each<[string, () => unknown]>([
    ["a proxy that throws", hostile],
    ["a string", () => SECRET],
    ["one whose class is a sentence", () => ({ constructor: { name: `${SECRET} is a sentence` } })],
    ["one whose code is a sentence", () => Object.assign(new Error("x"), { code: `${SECRET} no` })],
    ["null", () => null],
  ])("%s, thrown as an error, shows nothing of itself", (_, make) => {
    const events = createEvents();
    const { lines, logger } = collect();
    logTo(events, logger);
    events.emit("store", () => ({ status: "error", step: "claim", error: make() }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^error holdfire store status=error step=claim error=\w+$/);
    expect(lines[0]).not.toContain(SECRET);
  });
});

describe("what is heard", () => {
  test("only what weighs enough", () => {
    const events = createEvents();
    const { lines, logger } = collect();
    logTo(events, logger, { level: "error" });
    events.emit("takeover", () => ({ ...ABOUT, epoch: 2 }));
    events.emit("outcome", () => ({ ...ABOUT, ...UNKNOWN }));
    events.emit("store", () => ({ ...ABOUT, status: "recorded" }));
    events.emit("warning", () => ({ ...ABOUT, code: "key_unused" }));
    events.emit("duplicate", () => ({ ...ABOUT, source: "late" }));
    expect(lines).toEqual([
      `error holdfire duplicate tool=t source=late keyHash=${keyHash("key")}`,
    ]);
  });

  test.each<[string, (events: Events) => void, string]>([
    [
      "an outcome that is unknown",
      (events) => events.emit("outcome", () => ({ ...ABOUT, ...UNKNOWN })),
      "warn holdfire outcome tool=t status=unknown reason=deadline attempts=1 replayed=false durationMs=1",
    ],
    [
      "the same, given back",
      (events) => events.emit("outcome", () => ({ ...ABOUT, ...UNKNOWN, replayed: true })),
      "info holdfire outcome tool=t status=unknown reason=deadline attempts=1 replayed=true durationMs=1",
    ],
    [
      "an attempt whose time was up",
      (events) =>
        events.emit("verdict", () => ({
          ...ABOUT,
          attempt: 1,
          verdict: "unknown",
          timedOut: true,
          wireRequests: 1,
          durationMs: 9,
        })),
      "warn holdfire verdict tool=t attempt=1 verdict=unknown wireRequests=1 durationMs=9 timedOut=true",
    ],
    [
      "a settle that could not be written",
      (events) => events.emit("store", () => ({ ...ABOUT, status: "unrecorded" })),
      "error holdfire store status=unrecorded tool=t",
    ],
    [
      "a result that could not be kept, without what its encoder said",
      (events) => events.emit("warning", () => ({ ...ABOUT, code: "payload_lost", why: SECRET })),
      "warn holdfire warning code=payload_lost tool=t",
    ],
  ])("%s, with its weight", (_, emit, line) => {
    const events = createEvents();
    const { lines, logger } = collect();
    logTo(events, logger);
    emit(events);
    expect(lines).toEqual([`${line} keyHash=${keyHash("key")}`]);
  });

  test("only the own tenant, also where the event names none", () => {
    const events = createEvents();
    const ours = collect();
    const theirs = collect();
    logTo(events.of("ours"), ours.logger, { level: "debug" });
    logTo(events.of("theirs"), theirs.logger, { level: "debug" });
    const step = { client: "openai", step: "POST /responses", attempt: 1 };
    const asked = { operation: "chat", provider: "openai" };
    events.of("ours").emit("usage", () => ({ ...step, ...asked, partial: true }));
    events.of("theirs").emit("warning", () => ({ ...step, code: "prompt_drift", scope: SECRET }));
    events.emit("store", () => ({ status: "suspect", why: "rolled back" }));
    const suspect = 'error holdfire store status=suspect why="rolled back"';
    expect(ours.lines).toEqual([
      "debug holdfire usage client=openai attempt=1 partial=true",
      suspect,
    ]);
    expect(theirs.lines).toEqual([
      "warn holdfire warning code=prompt_drift client=openai",
      suspect,
    ]);
  });

  test("a tenant of one holdfire does not hear another", async () => {
    const { hf, clock } = open();
    const { lines, logger } = collect();
    logTo(hf.forTenant("other"), logger, { level: "debug" });
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 });
    await clock.run(tool({}, { scope: "s" }));
    expect(lines).toEqual([]);
  });

  test("nothing, once stopped", () => {
    const events = createEvents();
    const { lines, logger } = collect();
    logTo(events, logger)();
    events.emit("duplicate", () => ({ ...ABOUT, source: "late" }));
    expect(lines).toEqual([]);
  });
});

test("a logger that throws or rejects changes nothing", async () => {
  const { hf, clock } = open();
  const trap = () => {
    throw new Error("full");
  };
  const later = () => Promise.reject(new Error("full"));
  logTo(hf, { debug: trap, info: trap, warn: trap, error: trap }, { level: "debug" });
  logTo(hf, { debug: later, info: later, warn: later, error: later }, { level: "debug" });
  let fired = 0;
  const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => ++fired });
  expect(await clock.run(tool({}, { scope: "s" }))).toBe(1);
  expect(fired).toBe(1);
});

test("a logger or an option that will not do is refused at once", () => {
  const { hf } = open();
  const { logger } = collect();
  expect(() => logTo(hf, { ...logger, warn: 1 } as never)).toThrow(
    /logger\.warn: must be a function/,
  );
  expect(() => logTo(hf, undefined as never)).toThrow(/logger\.debug/);
  expect(() => logTo(hf, logger, { level: "loud" as never })).toThrow(
    /options\.level: must be one of/,
  );
  expect(() => logTo(hf, logger, { errors: true as never })).toThrow(/options\.errors/);
});
