import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type EffectBody,
  type Fault,
  type FaultyService,
  faults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";

/** Timers that fire when told to. */
function manualTimers() {
  const waiting = new Set<() => void>();
  const asked: number[] = [];
  return {
    asked,
    waiting,
    after(ms: number, call: () => void) {
      asked.push(ms);
      waiting.add(call);
      return () => {
        waiting.delete(call);
      };
    },
    fire() {
      for (const call of [...waiting]) {
        if (waiting.delete(call)) call();
      }
    },
  };
}

let timers: ReturnType<typeof manualTimers>;
let service: FaultyService;

beforeEach(async () => {
  timers = manualTimers();
  service = await startFaultyService({ after: timers.after });
});

afterEach(() => service.close());

const BODY = { to: "ana", amount: 4 };

const post = (toolClass = "keyed", key = "k1", init: RequestInit = {}) =>
  fetch(`${service.url}/${toolClass}/effects`, {
    method: "POST",
    body: JSON.stringify(BODY),
    headers: { "idempotency-key": key },
    ...init,
  });

const counts = () => ({ arrivals: service.arrivals.length, effects: service.effects.length });

/** What a bare socket sees of the reply to a write: its bytes, and how the connection ended. */
async function bareReply(): Promise<{ text: string; end: string }> {
  const socket = connect(service.port, "127.0.0.1");
  const chunks: Buffer[] = [];
  let end = "nothing";
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("end", () => {
    end = "FIN";
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    end = error.code ?? "error";
  });
  socket.write(
    "POST /keyed/effects HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
  );
  await once(socket, "close").catch(() => {});
  return { text: Buffer.concat(chunks).toString(), end };
}

describe("the plan", () => {
  test("gives the next writes their faults in order, then none", async () => {
    service.plan(faults.status({ status: 500 }), faults.status({ status: 502 }));
    service.plan(faults.status({ status: 503 }));
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await post()).status);
    expect(statuses).toEqual([500, 502, 503, 201]);
    const tags = service.arrivals.map(({ fault }) => fault?.tag);
    expect(tags).toEqual(["status", "status", "status", undefined]);
  });

  test("comes before the standing fault, which stays until it is taken back", async () => {
    service.always(faults.status({ status: 503 }));
    service.plan(faults.status({ status: 500 }));
    const statuses = [(await post()).status, (await post()).status, (await post()).status];
    service.always(undefined);
    expect([...statuses, (await post()).status]).toEqual([500, 503, 503, 201]);
  });

  test("keeps the fault as it was when planned", async () => {
    const fault = { tag: "status", status: 500, commit: false } satisfies Fault;
    service.plan(fault);
    fault.status = 503;
    expect((await post()).status).toBe(500);
  });
});

describe("reset", () => {
  test("commit then reset: the effect is there, the reply is not", async () => {
    service.plan(faults.commitThenReset());
    await expect(post()).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
  });

  test("commit then reset: the key is stored, and its answer replayed", async () => {
    service.plan(faults.commitThenReset());
    await post().catch(() => {});
    const reply = await post();
    expect(reply.headers.get("idempotent-replayed")).toBe("true");
    expect(((await reply.json()) as EffectBody).id).toBe(service.effects[0]?.effectId);
    expect(counts()).toEqual({ arrivals: 2, effects: 1 });
  });

  test("reset before: the request arrived, nothing happened, and the key is not known", async () => {
    service.plan(faults.resetBefore());
    await expect(post()).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(counts()).toEqual({ arrivals: 1, effects: 0 });
    expect((await post()).headers.get("idempotent-replayed")).toBeNull();
  });

  test.each([
    ["commit then reset", faults.commitThenReset()],
    ["reset before", faults.resetBefore()],
    ["late commit", faults.lateCommit()],
  ])("%s is an RST, not an empty reply", async (_name, fault) => {
    service.plan(fault);
    expect(await bareReply()).toEqual({ text: "", end: "ECONNRESET" });
  });

  test.each([true, false])(
    "a hang-up is an empty reply, not an RST (commit: %s)",
    async (commit) => {
      service.plan(faults.hangUp({ commit }));
      expect(await bareReply()).toEqual({ text: "", end: "FIN" });
      expect(service.effects).toHaveLength(commit ? 1 : 0);
    },
  );
});

describe("black hole", () => {
  test.each([true, false])(
    "there is no answer until the client leaves (commit: %s)",
    async (commit) => {
      service.plan(faults.blackHole({ commit }));
      const leave = new AbortController();
      const lost = expect(post("keyed", "k1", { signal: leave.signal })).rejects.toBe("enough");
      await expect.poll(counts).toEqual({ arrivals: 1, effects: commit ? 1 : 0 });
      leave.abort("enough");
      await lost;
      expect((await post()).headers.get("idempotent-replayed")).toBe(commit ? "true" : null);
      expect(service.effects).toHaveLength(1);
    },
  );
});

describe("slow", () => {
  const begun = () => expect.poll(() => timers.waiting.size).toBeGreaterThan(0);

  test("commit before: the effect is there at once, the answer after the wait", async () => {
    service.plan(faults.slow({ ms: 15_000, commit: "before" }));
    const reply = post();
    await begun();
    expect(new Set(timers.asked)).toEqual(new Set([15_000]));
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
    timers.fire();
    expect((await reply).status).toBe(201);
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
  });

  test.each(["after", "on_time"] as const)(
    "commit %s: nothing is there until the answer is",
    async (commit) => {
      service.plan(faults.slow({ ms: 15_000, commit }));
      const reply = post();
      await begun();
      expect(new Set(timers.asked)).toEqual(new Set([15_000]));
      expect(service.effects).toEqual([]);
      timers.fire();
      expect((await reply).status).toBe(201);
      expect(counts()).toEqual({ arrivals: 1, effects: 1 });
    },
  );

  test.each(["before", "after", "on_time"] as const)(
    "commit %s: the key is in use until the answer, then replayed",
    async (commit) => {
      service.plan(faults.slow({ ms: 15_000, commit }));
      const slow = post();
      await begun();
      const meanwhile = await post();
      expect(meanwhile.status).toBe(409);
      expect(await meanwhile.json()).toEqual({ error: { type: "idempotency_key_in_use" } });
      expect((await post("keyed", "k1", { body: "{}" })).status).toBe(422);
      timers.fire();
      const first = await (await slow).json();
      const replay = await post();
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
      expect(await replay.json()).toEqual(first);
      expect(service.effects).toHaveLength(1);
    },
  );

  test.each([
    ["before", 1, 1],
    ["after", 0, 1],
  ] as const)(
    "commit %s: a client that leaves changes nothing",
    async (commit, atOnce, inTheEnd) => {
      service.plan(faults.slow({ ms: 15_000, commit }));
      const leave = new AbortController();
      const lost = expect(post("keyed", "k1", { signal: leave.signal })).rejects.toBe("enough");
      await begun();
      leave.abort("enough");
      await lost;
      expect(service.effects).toHaveLength(atOnce);
      timers.fire();
      expect(service.effects).toHaveLength(inTheEnd);
      expect((await post()).headers.get("idempotent-replayed")).toBe("true");
    },
  );

  test("commit on time: for a client that has left nothing happens, and the key is free", async () => {
    service.plan(faults.slow({ ms: 15_000, commit: "on_time" }));
    const leave = new AbortController();
    const lost = expect(post("keyed", "k1", { signal: leave.signal })).rejects.toBe("enough");
    await begun();
    leave.abort("enough");
    await lost;
    await expect.poll(async () => (await post()).status).toBe(201);
    timers.fire();
    expect(service.effects).toHaveLength(1);
    expect(service.effects[0]?.arrival).not.toBe(service.arrivals[0]?.seq);
  });

  test("commit after: commitLate makes the effect early, once, and the answer still waits", async () => {
    service.plan(faults.slow({ ms: 15_000, commit: "after" }));
    const reply = post("readable");
    await begun();
    expect(service.commitLate()).toBe(1);
    expect(service.effects).toHaveLength(1);
    timers.fire();
    expect(((await (await reply).json()) as EffectBody).id).toBe(service.effects[0]?.effectId);
    expect(service.effects).toHaveLength(1);
  });
});

describe("status", () => {
  test.each([401, 402, 409, 422, 429, 500, 502, 503, 504])(
    "%i without a commit is an answer from which nothing follows",
    async (status) => {
      service.plan(faults.status({ status }));
      const reply = await post();
      expect(reply.status).toBe(status);
      expect(await reply.json()).toEqual({ error: { type: "fault" } });
      expect(counts()).toEqual({ arrivals: 1, effects: 0 });
      expect((await post()).headers.get("idempotent-replayed")).toBeNull();
    },
  );

  test.each([409, 429, 500, 503])("%i after a commit hides an effect", async (status) => {
    service.plan(faults.status({ status, commit: true }));
    expect((await post()).status).toBe(status);
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
    const replay = await post();
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  });

  test("a body of one's own is sent: text as it is, the rest as JSON", async () => {
    service.plan(
      faults.status({ status: 202, body: { state: "pending" } }),
      faults.status({ status: 502, headers: { "Content-Type": "text/html" }, body: "<p>" }),
      faults.status({ status: 202 }),
      faults.status({ status: 204, body: "never sent" }),
    );
    expect(await (await post()).json()).toEqual({ state: "pending" });
    const page = await post();
    expect([page.headers.get("content-type"), await page.text()]).toEqual(["text/html", "<p>"]);
    expect(await (await post()).json()).toEqual({});
    expect(await (await post()).text()).toBe("");
  });

  test.each([
    ["negative", "-1"],
    ["no number", "NaN"],
    ["huge", "1e12"],
    ["longer than a timer holds", "99999999999"],
    ["a date that is past", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["a date without a zone", "Thu, 01 Jan 2099 00:00:00"],
    ["10 KB long", "9".repeat(10_240)],
  ])("a Retry-After that is %s reaches the client as it is", async (_what, value) => {
    service.plan(faults.status({ status: 429, headers: { "retry-after": value } }));
    expect((await post()).headers.get("retry-after")).toBe(value);
  });

  test("two Retry-After headers reach the client as two", async () => {
    service.plan(faults.status({ status: 429, headers: { "retry-after": ["1", "3600"] } }));
    const { text } = await bareReply();
    expect(text.match(/^retry-after: \d+\r$/gim)).toEqual([
      "retry-after: 1\r",
      "retry-after: 3600\r",
    ]);
  });
});

describe("a reply that breaks off", () => {
  test.each(["length", "chunked"] as const)(
    "truncated body (%s): the head says success, the body ends early, the effect is there",
    async (framing) => {
      service.plan(faults.truncatedBody({ framing }));
      const reply = await post();
      expect(reply.status).toBe(201);
      expect(reply.headers.has("content-length")).toBe(framing === "length");
      await expect(reply.text()).rejects.toThrow("terminated");
      expect(counts()).toEqual({ arrivals: 1, effects: 1 });
      expect((await post()).headers.get("idempotent-replayed")).toBe("true");
    },
  );

  test("truncated body is by default one that its content-length overstates", async () => {
    service.plan(faults.truncatedBody());
    const { text, end } = await bareReply();
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const length = Number(head.match(/^content-length: (\d+)/im)?.[1]);
    expect(end).toBe("FIN");
    expect(body.length).toBeGreaterThan(0);
    expect(body.length).toBeLessThan(length);
  });

  test("truncated body (gzip): the frame is whole, and what is in it is no JSON", async () => {
    service.plan(faults.truncatedBody({ framing: "gzip" }));
    const reply = await post();
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    await expect(reply.json()).rejects.toThrow();
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
  });

  test("trickle: the body comes byte by byte and is cut before its last", async () => {
    service.plan(faults.trickle({ everyMs: 1_000 }));
    const reply = await post();
    const length = Number(reply.headers.get("content-length"));
    const lost = expect(reply.text()).rejects.toThrow("terminated");
    while (timers.waiting.size > 0) timers.fire();
    await lost;
    expect(timers.asked).toEqual(Array.from({ length: length - 1 }, () => 1_000));
    expect(counts()).toEqual({ arrivals: 1, effects: 1 });
  });

  test("trickle stops when the client leaves", async () => {
    service.plan(faults.trickle());
    const leave = new AbortController();
    const reply = await post("keyed", "k1", { signal: leave.signal });
    leave.abort();
    await expect
      .poll(() => {
        timers.fire();
        return timers.waiting.size;
      })
      .toBe(0);
    expect(timers.asked.length).toBeLessThan(Number(reply.headers.get("content-length")) - 1);
    expect(service.effects).toHaveLength(1);
  });
});

describe("late commit", () => {
  test("a read finds nothing, and then the effect comes: absent was no proof", async () => {
    const client = service.client("readable");
    service.plan(faults.lateCommit({ afterMs: 3_000 }));
    await expect(post("readable")).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(await client.find({ key: "k1" })).toEqual([]);
    expect(service.commitLate()).toBe(1);
    expect(await client.find({ key: "k1" })).toHaveLength(1);
    expect(service.effects[0]?.arrival).toBe(service.arrivals[0]?.seq);
    expect(service.effects[0]?.seq).toBeGreaterThan(service.reads[0]?.seq ?? Number.NaN);
  });

  test("it comes by itself after its time, and then not again", async () => {
    service.plan(faults.lateCommit({ afterMs: 3_000 }));
    await post("readable").catch(() => {});
    expect(timers.asked).toEqual([3_000]);
    timers.fire();
    expect(service.effects).toHaveLength(1);
    expect(service.commitLate()).toBe(0);
    expect(service.effects).toHaveLength(1);
  });

  test("commitLate does all of them in order, and takes back their timers", async () => {
    service.plan(faults.lateCommit(), faults.lateCommit({ afterMs: 1 }));
    await post("readable", "k1").catch(() => {});
    await post("readable", "k2").catch(() => {});
    expect(service.commitLate()).toBe(2);
    expect(service.effects.map(({ key }) => key)).toEqual(["k1", "k2"]);
    expect(timers.waiting.size).toBe(0);
  });

  test("a blind retry meanwhile makes two effects, unless the service honours the key", async () => {
    for (const toolClass of ["neither", "keyed"]) {
      service.plan(faults.lateCommit());
      await post(toolClass).catch(() => {});
      expect((await post(toolClass)).status).toBe(201);
      service.commitLate();
    }
    const classes = service.effects.map((effect) => effect.class);
    expect(classes).toEqual(["neither", "neither", "keyed"]);
  });

  test("a precondition is judged when the request gets there, not when it was sent", async () => {
    const client = service.client("conditional");
    service.plan(faults.lateCommit());
    await client.put("a", { n: "late" }).catch(() => {});
    await client.put("a", { n: "early" });
    service.commitLate();
    expect(service.effects.map(({ intent }) => intent)).toEqual([{ n: "early" }]);
  });
});

describe("duplicate delivery", () => {
  test.each([
    ["keyed", 1],
    ["neither", 2],
  ])("class %s: one request, two arrivals, effects: %i", async (toolClass, effects) => {
    service.plan(faults.duplicateDelivery());
    const reply = await post(toolClass);
    expect(reply.headers.get("idempotent-replayed")).toBeNull();
    expect(((await reply.json()) as EffectBody).id).toBe(service.effects[0]?.effectId);
    expect(counts()).toEqual({ arrivals: 2, effects });
    const [first, second] = service.arrivals;
    expect(second).toMatchObject({ key: first?.key, body: first?.body, fault: first?.fault });
    expect(service.effects.map(({ arrival }) => arrival)).toEqual(
      [first?.seq, second?.seq].slice(0, effects),
    );
  });
});

describe("redirect", () => {
  test("307 makes the client send the same request again", async () => {
    service.plan(faults.redirect({ to: "/readable/effects" }));
    const reply = await post();
    expect([reply.status, reply.redirected]).toEqual([201, true]);
    expect(service.arrivals.map(({ path }) => path)).toEqual([
      "/keyed/effects",
      "/readable/effects",
    ]);
    expect(service.effects).toMatchObject([{ class: "readable", intent: BODY }]);
  });

  test("another status is sent as it is, with no effect", async () => {
    service.plan(faults.redirect({ to: `${service.url}/elsewhere`, status: 303 }));
    const reply = await post("keyed", "k1", { redirect: "manual" });
    expect([reply.status, reply.headers.get("location")]).toEqual([
      303,
      `${service.url}/elsewhere`,
    ]);
    expect(counts()).toEqual({ arrivals: 1, effects: 0 });
  });
});

describe("stored failure", () => {
  test("a keyed class stores the failure and replays it; a new key goes through", async () => {
    service.plan(faults.storedFailure());
    const first = await post();
    const second = await post();
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([500, null]);
    expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([500, "true"]);
    expect(await second.json()).toEqual(await first.json());
    expect((await post("keyed", "k2")).status).toBe(201);
    expect(service.effects.map(({ key }) => key)).toEqual(["k2"]);
  });

  test("it does not replace what the key has already answered", async () => {
    await post();
    service.plan(faults.storedFailure({ status: 402 }));
    expect((await post()).status).toBe(201);
  });

  test("a class without keys stores nothing", async () => {
    service.plan(faults.storedFailure({ status: 402 }));
    expect((await post("readable")).status).toBe(402);
    expect((await post("readable")).status).toBe(201);
  });
});
