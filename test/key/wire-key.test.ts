import fc from "fast-check";
import { stringify } from "uuid";
import { expect, test } from "vitest";
import { wireKey } from "../../src/key/mint.ts";

/** The same by the package. */
function uuidOf(bytes: Uint8Array): string {
  const marked = Uint8Array.from(bytes.subarray(0, 16));
  marked[6] = ((marked[6] ?? 0) & 0x0f) | 0x80;
  marked[8] = ((marked[8] ?? 0) & 0x3f) | 0x80;
  return stringify(marked);
}

test("a key is the first 16 bytes of the id with version 8 and the variant of the RFC", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 40 }), (bytes) => {
      expect(wireKey(Buffer.from(bytes).toString("base64url"), 0)).toBe(uuidOf(bytes));
    }),
    { seed: 9562, numRuns: 2_000 },
  );
});

test("each value of each byte has its own digits", () => {
  for (let place = 0; place < 16; place += 1) {
    for (let value = 0; value < 256; value += 1) {
      const bytes = Buffer.alloc(32, 0xa5);
      bytes[place] = value;
      expect(wireKey(bytes.toString("base64url"), 0)).toBe(uuidOf(bytes));
    }
  }
});
