import { expect, test } from "vitest";
import { packRecord, unpackRecord } from "../../src/ledger/codec/record-text.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import { recordOf } from "../../src/testing/record-of.ts";

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

test("the first layout stays readable, and one that is not known is refused", () => {
  const text = `{"v":1,"t":"pay","c":"s","f":"f","st":{"tag":"queued"},"sa":2,"ca":1,"e":1,"ah":"a","ru":[],"at":[]}`;
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
