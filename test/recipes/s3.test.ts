import { createHash } from "node:crypto";
import { S3 } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { ownRetries } from "../../src/integrations/aws/index.ts";
import type { S3Arguments, S3Intent, S3Object } from "../../src/recipes/s3.ts";
import { s3Create, s3Replace } from "../../src/recipes/s3.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly etag: string;
  readonly mark: string | undefined;
  readonly text: string;
}

const etagOf = (text: string): string => `"${createHash("md5").update(text).digest("hex")}"`;
const failure = (status: number, code: string) => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No</Message></Error>`,
});

/** S3 as documented: conditions on writes, metadata on heads, and a 412 where a condition fails. */
async function open({ hf }: Stage) {
  const objects = new Map<string, Kept>();
  let writes = 0;
  const write = (path: string, text: string, mark?: string): void => {
    writes += 1;
    objects.set(path, { text, mark, etag: etagOf(text) });
  };
  const fake = await startFake(({ method, path, headers, text }) => {
    const there = objects.get(path);
    if (method === "HEAD") {
      if (!there) return { status: 404 };
      const mark = there.mark === undefined ? {} : { "x-amz-meta-holdfire-key": there.mark };
      return { headers: { etag: there.etag, ...mark } };
    }
    const isHeld =
      (headers["if-none-match"] === "*" && there === undefined) ||
      (headers["if-match"] !== undefined && headers["if-match"] === there?.etag);
    if (!isHeld) return failure(412, "PreconditionFailed");
    write(path, text, `${headers["x-amz-meta-holdfire-key"]}`);
    return { headers: { etag: etagOf(text) } };
  });
  const s3 = new S3({
    endpoint: fake.url,
    region: "us-east-1",
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    credentials: { accessKeyId: "x", secretAccessKey: "y" },
  });
  return { fake, objects, write, s3: ownRetries(s3, hf), effects: () => writes };
}

const ARGS = { bucket: "reports", name: "2026/q3.txt", body: "All is well." };
const PATH = "/reports/2026/q3.txt";

recipeContract("s3Create", {
  licence: "keyed",
  place: true,
  open: async (stage) => {
    const { s3, ...rest } = await open(stage);
    return { ...rest, definition: s3Create({ s3 }), args: ARGS };
  },
});

recipeContract("s3Replace", {
  licence: "keyed",
  place: true,
  open: async (stage) => {
    const { s3, objects, ...rest } = await open(stage);
    objects.set(PATH, { text: "old", mark: undefined, etag: etagOf("old") });
    return { ...rest, definition: s3Replace({ s3 }), args: ARGS };
  },
});

test("an object that another made is a no, and is left as it is", async () => {
  const stage = openStage();
  const { objects, write, s3 } = await open(stage);
  write(PATH, ARGS.body);
  const outcome = await stage.call(stage.tool(s3Create({ s3 })), ARGS);
  expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
  expect(objects.get(PATH)?.mark).toBeUndefined();
});

test("an object that another made while ours was lost is not taken for ours", async () => {
  const stage = openStage();
  const { fake, objects, write, s3 } = await open(stage);
  const { run, ...rest } = s3Create({ s3 });
  fake.lose("before");
  const tool = stage.tool<S3Arguments, S3Intent, S3Object>({
    ...rest,
    run: async (args, context) => {
      try {
        return await run(args, context);
      } finally {
        if (objects.size === 0) write(PATH, ARGS.body, "of another operation");
      }
    },
  });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown" });
  expect(objects.get(PATH)?.mark).toBe("of another operation");
});

test("replacing goes by what was read before the first attempt, on every attempt", async () => {
  const stage = openStage();
  const { fake, objects, write, s3 } = await open(stage);
  write(PATH, "old");
  fake.lose("before");
  expect(await stage.call(stage.tool(s3Replace({ s3 })), ARGS)).toMatchObject({
    status: "committed",
    licence: "keyed",
  });
  expect(fake.writes.map(({ headers }) => headers["if-match"])).toEqual([
    etagOf("old"),
    etagOf("old"),
  ]);
  expect(objects.get(PATH)?.text).toBe(ARGS.body);
});

test("what is not there is not replaced", async () => {
  const stage = openStage();
  const { fake, s3 } = await open(stage);
  const outcome = await stage.call(stage.tool(s3Replace({ s3 })), ARGS);
  expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent" });
  expect(fake.writes).toHaveLength(0);
});
