/**
 * What every recipe must do when requests and replies are lost, whatever its service can promise.
 *
 * @module
 */

import { describe, expect, test } from "vitest";
import type { ToolWithInput } from "../../src/engine/define/definition.ts";
import type { JsonArguments } from "../../src/engine/define/json-arguments.ts";
import type { FakeService } from "./fake-service.ts";
import { openStage, type Stage } from "./stage.ts";

export interface Opened<A, I, R> {
  readonly fake: Pick<FakeService, "lose" | "failReads"> & {
    readonly writes: { readonly length: number };
  };
  readonly definition: ToolWithInput<A, I, R>;
  readonly args: A;
  /** How many effects the service has, whoever made them. */
  readonly effects: () => number;
  /** Another program makes one that looks the same. */
  readonly makeForeign?: () => void | Promise<void>;
  /** The service says no to the next write, as it documents it. */
  readonly decline?: () => void;
  /** Arguments with the same intent and another body. */
  readonly reworded?: A;
}

export interface ContractOptions<A, I, R> {
  readonly open: (stage: Stage) => Promise<Opened<A, I, R>>;
  /** keyed: the service recognises a repetition. absent: only a look licenses one. */
  readonly licence: "absent" | "keyed";
  /** Whether there is one place for it, which another may have taken. @default false */
  readonly place?: boolean;
  /** Whether there is a reader that finds what is there. @default true */
  readonly finds?: boolean;
  /** Whether the service recognises a repeated key. @default with the licence `keyed` */
  readonly recognises?: boolean;
  /** Whether `decline` and `reworded` are given. @default false */
  readonly says?: boolean;
  /** The arguments themselves name the one thing that is written, so another scope means the same one. @default false */
  readonly once?: boolean;
}

const WITHIN_MS = 2_000;

export function recipeContract<A extends JsonArguments<A>, I, R>(
  name: string,
  {
    open,
    licence,
    place = false,
    finds = true,
    says = false,
    once = false,
    recognises = licence === "keyed",
  }: ContractOptions<A, I, R>,
): void {
  describe(`${name}, like every recipe`, () => {
    test("makes it once, and a second call in the scope sends nothing", async () => {
      const stage = openStage();
      const { fake, definition, args, effects } = await open(stage);
      const tool = stage.tool(definition);
      const first = await stage.call(tool, args);
      expect(first).toMatchObject({ status: "committed", attempts: 1, replayed: false });
      const again = await stage.call(tool, args);
      expect(again).toMatchObject({ status: "committed", replayed: true, key: first.key });
      expect([fake.writes.length, effects()]).toEqual([1, 1]);
    });

    test.runIf(finds)("finds what was made when the reply was lost, and sends once", async () => {
      const stage = openStage();
      const { fake, definition, args, effects } = await open(stage);
      fake.lose("after");
      const outcome = await stage.call(stage.tool(definition), args);
      const result = expect.anything();
      expect(outcome).toMatchObject({ status: "committed", attempts: 1, result });
      expect([fake.writes.length, effects()]).toEqual([1, 1]);
    });

    test("sends again what was lost on the way, if it may", async () => {
      const stage = openStage();
      const { fake, definition, args, effects } = await open(stage);
      fake.lose("before");
      const withTimeLimit =
        licence === "absent" && definition.readState ? { commitsWithinMs: WITHIN_MS } : {};
      const outcome = await stage.call(stage.tool({ ...definition, ...withTimeLimit }), args);
      expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence });
      expect([fake.writes.length, effects()]).toEqual([2, 1]);
    });

    test.runIf(licence === "absent")(
      "without a window, absent is no reason to send again",
      async () => {
        const stage = openStage();
        const { fake, definition, args, effects } = await open(stage);
        fake.lose("before");
        const outcome = await stage.call(stage.tool(definition), args);
        expect(outcome).toMatchObject({ status: "unknown", reason: "absent_unproven" });
        expect([fake.writes.length, effects()]).toEqual([1, 0]);
      },
    );

    test.runIf(!place && !once)("does not take another's for its own", async () => {
      const stage = openStage();
      const { fake, definition, args, effects, makeForeign } = await open(stage);
      await makeForeign?.();
      const tool = stage.tool(definition);
      const other = await stage.call(tool, args, "request-of-another");
      expect(other.status).toBe("committed");
      const before = effects();
      expect(before).toBe(makeForeign ? 2 : 1);
      fake.lose("before");
      const outcome = await stage.call(tool, args, "request-1");
      const read = stage.readings.filter(({ key }) => key === outcome.key);
      if (finds) expect(read.map(({ reading }) => reading.reading)).toContain("absent");
      expect(read.filter(({ reading }) => "result" in reading)).toEqual([]);
      expect(outcome).toMatchObject(
        licence === "keyed"
          ? { status: "committed", attempts: 2, licence }
          : { status: "unknown", attempts: 1 },
      );
      expect(effects()).toBe(licence === "keyed" ? before + 1 : before);
    });

    test.runIf(finds)(
      "a request that the network delivers twice is noticed, or recognised",
      async () => {
        const stage = openStage();
        const { fake, definition, args, effects } = await open(stage);
        fake.lose("twice");
        const outcome = await stage.call(stage.tool(definition), args);
        expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
        const twice = !recognises;
        expect([effects(), stage.duplicates()]).toEqual(twice ? [2, 1] : [1, 0]);
      },
    );

    test.runIf(says)(
      "a no is not applied: nothing is made, and it is not asked again",
      async () => {
        const stage = openStage();
        const { fake, definition, args, effects, decline } = await open(stage);
        decline?.();
        const tool = stage.tool(definition);
        const outcome = await stage.call(tool, args);
        expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
        expect(await stage.call(tool, args)).toMatchObject({
          status: "not_applied",
          replayed: true,
        });
        expect([fake.writes.length, effects()]).toEqual([1, 0]);
      },
    );

    test.runIf(says)("a no whose reply was lost is not called done", async () => {
      const stage = openStage();
      const { fake, definition, args, effects, decline } = await open(stage);
      decline?.();
      fake.lose("after");
      const outcome = await stage.call(stage.tool({ ...definition, attempts: 1 }), args);
      expect(outcome.status).toBe("unknown");
      expect(effects()).toBe(0);
    });

    test.runIf(says)(
      "a known key with another body makes no second one, and is no no",
      async () => {
        const stage = openStage();
        const { definition, args, effects, reworded = args } = await open(stage);
        const first = await stage.call(stage.tool(definition), args);
        // A ledger that has forgotten all: the same key, minted again.
        const forgetful = openStage();
        const again = await forgetful.call(forgetful.tool(definition), reworded);
        expect(again.key).toBe(first.key);
        expect(again.status).not.toBe("not_applied");
        expect(effects()).toBe(1);
      },
    );

    test.runIf(finds)("a reader that fails proves nothing", async () => {
      const stage = openStage();
      const { fake, definition, args } = await open(stage);
      fake.lose("after");
      const run: typeof definition.run = async (...given) => {
        try {
          return await definition.run(...given);
        } finally {
          fake.failReads(503);
        }
      };
      const tool = stage.tool({ ...definition, run, commitsWithinMs: WITHIN_MS, attempts: 1 });
      const outcome = await stage.call(tool, args);
      expect(outcome.status).toBe("unknown");
      expect(fake.writes.length).toBe(1);
    });
  });
}
