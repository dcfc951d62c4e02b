import { expect, test } from "vitest";
import { packRecord, unpackRecord } from "../../src/ledger/codec/record-text.ts";
import { type Applied, apply } from "../../src/ledger/moves/apply.ts";
import type { AttemptNote, OperationRecord } from "../../src/ledger/record.ts";
import { evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const attemptOf = (facts: Partial<AttemptNote>): AttemptNote => ({
  n: 1,
  epoch: 1,
  generation: 0,
  licence: "first",
  at: 0,
  ...facts,
});

const unpacked = ({ tenant, id, ...rest }: OperationRecord) =>
  unpackRecord(packRecord({ tenant, id, ...rest }), tenant, id);

test.each<[string, Partial<OperationRecord>]>([
  ["one hash for the key, the intent and the arguments", { fingerprint: "h", argsHash: "h" }],
  ["three hashes", { fingerprint: "f", argsHash: "a" }],
  ["no run", { run: undefined, runs: [] }],
  ["the run that made it", { run: "r", runs: ["r"] }],
  ["a run that replayed it, but none that made it", { run: undefined, runs: ["r"] }],
  ["a run that made it and one that replayed it", { run: "r", runs: ["r", "s"] }],
  ["a run that made it and is not kept", { run: "r", runs: [] }],
  ["a run that replayed it, where the one that made it is not kept", { run: "r", runs: ["s"] }],
  ["a service of the tool's own name", { tool: "pay", service: "pay" }],
  ["a later key, and more attempts than are kept", { generation: 2, fired: 40 }],
  ["other names, and a late answer", { aliases: ["call_1"], evidence: [evidenceOf()] }],
  ["what is known of an attempt", { attempts: [attemptOf({ verdict: "unknown", endedAt: 7 })] }],
])("a record is read as it was written: %s", (_, fields) => {
  const record = recordOf({ id: "h", ...fields });
  expect(unpacked(record)).toEqual(record);
});

test("a hash that the id says already is not written again", () => {
  const text = packRecord(
    recordOf({ id: "hash-of-all", fingerprint: "hash-of-all", argsHash: "b" }),
  );
  expect(text).not.toContain("hash-of-all");
});

const PLAIN = ["v", "t", "c", "st", "sa", "ca", "e", "at"];

test.each<[string, Partial<OperationRecord>, readonly string[]]>([
  ["what is empty or follows from the rest", {}, []],
  ["the run that made it, once", { run: "r", runs: ["r"] }, ["r"]],
  ["what was left out of attempts", { attempts: [attemptOf({ verdict: undefined })] }, []],
])("a record is written without %s", (_, fields, more) => {
  const id = "h";
  const plain = { id, fingerprint: id, argsHash: id, tool: "pay", service: "pay", fields: {} };
  const { intent: _intent, ...record } = recordOf({ ...plain, ...fields });
  const packed = JSON.parse(packRecord(record));
  expect(Object.keys(packed).toSorted()).toEqual([...PLAIN, ...more].toSorted());
  expect(packed.at).toEqual([[1, 1, 0, "first", 0]]);
});

test("the first layout stays readable, and one that is not known is refused", () => {
  const text = `{"v":1,"t":"pay","c":"s","f":"f","st":{"tag":"claimed","holder":"p"},"sa":2,"ca":1,"e":1,"ah":"a","ru":[],"at":[]}`;
  expect(unpackRecord(text, "acme", "id")).toMatchObject({
    tool: "pay",
    service: "pay",
    fingerprint: "f",
    argsHash: "a",
    runs: [],
  });
  expect(() => unpackRecord(text.replace(`"v":1`, `"v":3`), "acme", "id")).toThrow(
    expect.objectContaining({ reason: "damaged_record", cause: expect.any(RangeError) }),
  );
});

test("what a newer version has noted of an attempt is kept by one that does not know it", () => {
  const attempt = { n: 1, epoch: 1, generation: 0, licence: "first", at: 1, ofTomorrow: "kept" };
  const stored = {
    record: recordOf({ attempts: [attempt as AttemptNote] }),
    version: 1,
    leaseUntil: undefined,
  };
  const { record } = apply(stored, { move: "running", attempt: 1, endsBy: 9 }, 0) as Extract<
    Applied,
    { tag: "write" }
  >;
  expect(unpacked(record as OperationRecord).attempts).toMatchObject([
    { endsBy: 9, ofTomorrow: "kept" },
  ]);
});
