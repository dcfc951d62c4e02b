import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AttemptContext, ToolWithInput } from "../../src/engine/define/definition.ts";
import {
  absent,
  committed,
  duplicated,
  type Reading,
  type StateQuery,
} from "../../src/engine/define/reading.ts";
import { typed } from "../../src/engine/define/schema.ts";
import { createClient } from "../../src/testing/faulty-service/client.ts";
import {
  type EffectBody,
  type FaultyService,
  faults,
  readFaults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import { type Claim, type Proof, proveTool, type Sandbox } from "../../src/testing/prove-tool.ts";
import { leapingClock } from "./leaping-clock.ts";

interface Args {
  readonly paymentId: string;
  readonly amount: number;
}

type Definition = ToolWithInput<Args, Args, EffectBody>;
type Query = StateQuery<Args>;

let service: FaultyService;
let time: ReturnType<typeof leapingClock>;
let payments: number;

beforeEach(async () => {
  time = leapingClock();
  payments = 0;
  service = await startFaultyService({ now: time.clock.now, after: time.after });
});

afterEach(() => service.close());

const reading = (found: readonly EffectBody[]): Reading<EffectBody> => {
  const [first] = found;
  if (!first) return absent();
  return found.length > 1 ? duplicated(found) : committed(first, { effectId: first.id });
};

/** A truthful tool, keyed and readable. */
function payTool(url: string, other: Partial<Definition> = {}): Definition {
  const client = createClient(url, "keyed_readable");
  return {
    name: "pay",
    kind: "write",
    input: typed<Args>(),
    run: (args, { key, signal }) => client.create(args, { key, signal }),
    keyed: { forMs: 60_000 },
    readState: async ({ key, signal }) => reading(await client.find({ key }, { signal })),
    commitsWithinMs: 500,
    ...other,
  };
}

type Variant = (url: string) => Definition;

const books = (_intent: Args, key: string): number =>
  service.effects.filter((effect) => effect.key === key).length;

const byPayment = ({ paymentId }: Args): number =>
  service.effects.filter(({ intent }) => (intent as Args).paymentId === paymentId).length;

const prove = (
  tool: Variant = payTool,
  sandbox: Partial<Sandbox<Args, Args, EffectBody>> = {},
): Promise<Proof> =>
  proveTool(tool(service.url), {
    target: service.url,
    connect: tool,
    clock: time.clock,
    args: () => {
      payments += 1;
      return { paymentId: `p${payments}`, amount: 400 };
    },
    ...sandbox,
  });

const holds = ({ claims }: Proof) =>
  Object.fromEntries(claims.map((verdict) => [verdict.claim, verdict.holds]));

const why = ({ claims }: Proof, claim: Claim) =>
  claims.find((verdict) => verdict.claim === claim)?.why;

const evidence = ({ claims }: Proof) => claims[0]?.evidence ?? {};

const ALL_HOLD = { key_taken: true, keyed: true, readState: true, commitsWithinMs: true };

test("a truthful tool is proved, with and without the service's own books", async () => {
  for (const countEffects of [books, undefined]) {
    const proof = await prove(payTool, { countEffects });
    expect(holds(proof)).toEqual(ALL_HOLD);
    expect(proof.ok).toBe(true);
  }
});

test("a proof makes three effects, and cuts three connections", async () => {
  const seen = evidence(await prove(payTool, { countEffects: books }));
  expect(service.effects).toHaveLength(3);
  expect(seen).toEqual({
    "neverSent.reading": "absent",
    "answered.requests": 2,
    "answered.status": 201,
    "answered.effects": 1,
    "answered.reading": "committed",
    "answered.lagMs": expect.any(Number),
    "lostRequest.requests": 1,
    "lostRequest.effects": 0,
    "lostRequest.reading": "absent",
    "lostReply.requests": 1,
    "lostReply.status": 201,
    "lostReply.effects": 1,
    "lostReply.reading": "committed",
    "lostReply.lagMs": expect.any(Number),
    "lostEarly.requests": 1,
    "lostEarly.status": 201,
    "lostEarly.effects": 1,
    "lostEarly.reading": "committed",
    "lostEarly.lagMs": expect.any(Number),
  });
});

test("the text names the tool and every claim with its verdict", async () => {
  const { text } = await prove((url) => payTool(url, { readState: () => absent() }));
  const [title, ...lines] = text.split("\n");
  expect(title).toBe("pay: not proved");
  expect(lines[0]).toMatch(/^ {2}key_taken +holds +run took the key/);
  expect(lines[2]).toMatch(/^ {2}readState +DOES NOT HOLD +of an effect that was answered/);
  expect(lines[3]).toMatch(/^ {2}commitsWithinMs +untested +the reader never finds anything/);
});

describe("keyed", () => {
  const keyless =
    (url: string) =>
    (args: Args, { signal }: AttemptContext) =>
      createClient(url, "keyed_readable").create(args, { signal });
  const byIntent =
    (url: string) =>
    async ({ intent: { paymentId } }: Query) =>
      reading(await createClient(url, "keyed_readable").find({ paymentId }));

  test("does not hold for a run that never takes the key", async () => {
    const proof = await prove((url) =>
      payTool(url, { run: keyless(url), readState: byIntent(url) }),
    );
    expect(holds(proof)).toEqual({ ...ALL_HOLD, key_taken: false, keyed: false });
    expect(proof.ok).toBe(false);
  });

  test("does not hold for a run that takes the key and never sends it", async () => {
    const forgetful: Variant = (url) =>
      payTool(url, {
        run: (args, context) => {
          void context.key;
          return keyless(url)(args, context);
        },
        readState: byIntent(url),
      });
    const proof = await prove(forgetful, { countEffects: byPayment });
    expect(holds(proof)).toEqual({ ...ALL_HOLD, keyed: false });
    expect(why(proof, "keyed")).toContain("made 2 effects");
    // Without books the reader tells, and without a reader the results do.
    expect(why(await prove(forgetful), "keyed")).toContain("several effects");
    const { readState: _, commitsWithinMs: __, ...blind } = forgetful(service.url);
    const unread: Variant = (url) => ({ ...blind, run: forgetful(url).run });
    expect(why(await prove(unread), "keyed")).toContain("two different results");
  });

  test("does not hold if the service ignores keys", async () => {
    const ignored: Variant = (url) => {
      const client = createClient(url, "readable");
      return payTool(url, {
        run: (args, { key, signal }) => client.create(args, { key, signal }),
        readState: async ({ key }) => reading(await client.find({ key })),
      });
    };
    expect(holds(await prove(ignored))).toEqual({ ...ALL_HOLD, keyed: false });
  });

  test("does not hold if the second send gets an error", async () => {
    const proof = await prove(payTool, {
      countEffects: books,
      connect: (url) => {
        const tool = payTool(url);
        let calls = 0;
        return {
          ...tool,
          run: (args, context) => {
            calls += 1;
            if (calls === 2) service.plan(faults.status({ status: 409 }));
            return tool.run(args, context);
          },
        };
      },
    });
    expect(why(proof, "keyed")).toBe("the same key again got no result: status 409");
  });

  test("is untested if nothing can count the effects", async () => {
    const silent: Variant = (url) => {
      const { readState: _, commitsWithinMs: __, ...tool } = payTool(url);
      return {
        ...tool,
        run: async (args, context) => ({ ...(await tool.run(args, context)), id: "x", at: 0 }),
      };
    };
    expect(why(await prove(silent), "keyed")).toContain("give sandbox.countEffects");
    const withId: Variant = (url) => ({ ...silent(url), effect: { id: ({ id }) => id } });
    expect(holds(await prove(withId))).toMatchObject({ keyed: true, readState: "untested" });
  });
});

describe("readState", () => {
  test("does not hold for a blind reader, whose absence then says nothing", async () => {
    const blind: Variant = (url) => payTool(url, { readState: () => absent() });
    const verdicts = { ...ALL_HOLD, readState: false, commitsWithinMs: "untested" };
    expect(holds(await prove(blind, { countEffects: books }))).toEqual(verdicts);
    // Nor can it count.
    expect(holds(await prove(blind))).toEqual({ ...verdicts, keyed: "untested" });
  });

  test("does not hold for a reader that takes the effect of another for its own", async () => {
    const proof = await prove((url) =>
      payTool(url, {
        readState: async () => {
          const all = await createClient(url, "keyed_readable").find({});
          return reading(all.slice(-1));
        },
      }),
    );
    expect(holds(proof)).toMatchObject({ readState: false });
  });

  test("does not hold for a reader that finds what was never sent", async () => {
    const made = { id: "ef_0", effect: "created", at: 0, intent: {} } as const;
    const proof = await prove((url) => payTool(url, { readState: () => committed(made) }));
    expect(why(proof, "readState")).toBe("of a key that was never sent it says committed");
  });

  test("does not hold for a reader that shows one of two", async () => {
    const proof = await prove(
      (url) => {
        const client = createClient(url, "readable");
        return payTool(url, {
          run: (args, { key }) => client.create(args, { key }),
          readState: async ({ key }) => reading((await client.find({ key })).slice(0, 1)),
        });
      },
      { countEffects: books },
    );
    expect(why(proof, "readState")).toContain("there are 2 effects");
  });

  test("does not hold for a reader that throws", async () => {
    service.alwaysRead(readFaults.status({ status: 503 }));
    const proof = await prove();
    expect(why(proof, "readState")).toBe(
      "of a key that was never sent it says cannot_tell (failed)",
    );
  });
});

describe("commitsWithinMs", () => {
  test("holds for a reader that lags no longer than declared, and the lag is told", async () => {
    service.alwaysRead(readFaults.lag({ ms: 300 }));
    const proof = await prove();
    expect(holds(proof)).toEqual(ALL_HOLD);
    expect(evidence(proof)["lostReply.lagMs"]).toBeGreaterThan(0);
  });

  test("does not hold for a reader that lags longer, although it finds it in the end", async () => {
    service.alwaysRead(readFaults.lag({ ms: 800 }));
    const proof = await prove();
    expect(holds(proof)).toEqual({ ...ALL_HOLD, commitsWithinMs: false });
    expect(why(proof, "commitsWithinMs")).toContain("it was still absent; found after");
  });

  test("does not hold if the service commits later than that, after the client has gone", async () => {
    const prompt = faults.slow({ ms: 0, commit: "after" });
    // Answered twice and cut after the answer; then slow for the one that is cut before it.
    service.plan(prompt, prompt, prompt, faults.slow({ ms: 900, commit: "after" }));
    const proof = await prove(payTool, { readForMs: 30_000 });
    expect(holds(proof)).toEqual({ ...ALL_HOLD, commitsWithinMs: false });
    expect(evidence(proof)).toMatchObject({ "answered.lagMs": 0, "lostEarly.status": 201 });
    expect(evidence(proof)["lostEarly.lagMs"]).toBeGreaterThanOrEqual(900);
  });
});

describe("what cannot be tried", () => {
  test("is untested without connect, and then nothing is proved", async () => {
    const proof = await prove(payTool, { connect: undefined });
    expect(holds(proof)).toEqual({
      key_taken: true,
      keyed: true,
      readState: "untested",
      commitsWithinMs: "untested",
    });
    expect(proof.ok).toBe(false);
    expect(service.effects).toHaveLength(1);
  });

  test("is untested if the connected tool goes past the proxy", async () => {
    const proof = await prove(payTool, { connect: () => payTool(service.url) });
    expect(holds(proof)).toMatchObject({ keyed: true, readState: "untested" });
    expect(why(proof, "readState")).toContain("connect must use the base URL");
  });

  test("is untested if the tool does not work in the sandbox, without an error", async () => {
    service.always(faults.status({ status: 500 }));
    const proof = await prove();
    expect(proof.ok).toBe(false);
    expect(why(proof, "readState")).toBe("run failed: status 500");
    expect(holds(proof)).toMatchObject({ key_taken: true, keyed: "untested" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("is not held against a tool that does not claim it", async () => {
    const proof = await prove((url) => {
      const { keyed: _, readState: __, commitsWithinMs: ___, ...bare } = payTool(url);
      return bare;
    });
    expect(proof.claims.map(({ declared }) => declared)).toEqual([false, false, false, false]);
    expect(proof.text).toContain("pay: claims nothing");
  });
});

test("an unkeyed tool is never sent twice", async () => {
  const proof = await prove((url) => {
    const { keyed: _, ...unkeyed } = payTool(url);
    return unkeyed;
  });
  expect(evidence(proof)["answered.requests"]).toBe(1);
  expect(proof.ok).toBe(true);
});

test("a client that retries by itself shows in the requests of a lost reply", async () => {
  const proof = await prove((url) => {
    const tool = payTool(url);
    const again = async (args: Args, context: AttemptContext) => {
      try {
        return await tool.run(args, context);
      } catch {
        return await tool.run(args, context);
      }
    };
    return { ...tool, run: again };
  });
  expect(evidence(proof)["lostReply.requests"]).toBe(2);
});

test("a client that retries by itself is not proved where nothing recognises a repeat", async () => {
  const proof = await prove((url) => {
    const client = createClient(url, "readable");
    const { keyed: _, ...unkeyed } = payTool(url, {
      run: async (args, { key }) => {
        const send = () => client.create(args, { key });
        return send().catch(send);
      },
      readState: async ({ key }) => reading((await client.find({ key })).slice(0, 1)),
    });
    return unkeyed;
  });
  expect(holds(proof)).toMatchObject({ readState: false, commitsWithinMs: false });
  expect(why(proof, "readState")).toContain("run sent 2 requests where 1 would do");
});

test("any HTTP client can be cut, and only the requests that carry the effect", async () => {
  const viaNode =
    (url: string) =>
    async (args: Args, { key }: AttemptContext): Promise<EffectBody> => {
      await createClient(url, "keyed_readable").find({ key });
      return new Promise((resolve, reject) => {
        const to = request(`${url}/keyed_readable/effects`, {
          method: "POST",
          headers: { "idempotency-key": key, "transfer-encoding": "chunked" },
        });
        to.on("error", reject);
        to.on("response", (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("error", reject);
          response.on("end", () => resolve(JSON.parse(Buffer.concat(parts).toString())));
        });
        to.end(JSON.stringify(args));
      });
    };
  const proof = await prove((url) => payTool(url, { run: viaNode(url) }));
  expect(holds(proof)).toEqual(ALL_HOLD);
});

describe("bad input is refused before anything is sent", () => {
  afterEach(() => {
    expect(service.arrivals).toHaveLength(0);
    expect(service.reads).toHaveLength(0);
  });

  test.each(["https://api.example.com", "http://10.0.0.1:80", "http://127.example.com"])(
    "a target on another machine: %s",
    async (target) => {
      await expect(prove(payTool, { target })).rejects.toMatchObject({
        code: "ERR_HOLDFIRE_INVALID_INPUT",
        path: "sandbox.target",
        message: expect.stringContaining("allowRemote"),
      });
    },
  );

  test.each(["ftp://127.0.0.1", "nonsense", "http://user:word@127.0.0.1", "http://127.0.0.1/?a=1"])(
    "a target that is no base URL: %s",
    async (target) => {
      await expect(prove(payTool, { target, allowRemote: true })).rejects.toMatchObject({
        path: "sandbox.target",
      });
    },
  );

  test("a tool that only reads", async () => {
    const read: Variant = (url) => payTool(url, { kind: "read" });
    await expect(prove(read)).rejects.toMatchObject({ path: 'tool "pay".kind' });
  });

  test("another definition from connect than the one claimed", async () => {
    const connect: Variant = (url) => payTool(url, { commitsWithinMs: 5 });
    await expect(prove(payTool, { connect })).rejects.toMatchObject({ path: "sandbox.connect" });
  });

  test("an option it does not know", async () => {
    const misspelt = { lookforMs: 5 } as object;
    await expect(prove(payTool, misspelt)).rejects.toMatchObject({ path: "sandbox.lookforMs" });
  });
});

test("a remote target is allowed by name", async () => {
  const sandbox = { target: "https://sandbox.example", allowRemote: true, connect: undefined };
  expect(holds(await prove(payTool, sandbox))).toMatchObject({ keyed: true });
});

test("arguments that want the same effect twice are refused", async () => {
  const args = () => ({ paymentId: "p1", amount: 1 });
  await expect(prove(payTool, { args })).rejects.toMatchObject({ path: "sandbox.args" });
});
