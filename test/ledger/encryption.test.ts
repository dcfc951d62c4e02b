import { createDecipheriv } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { type EncryptionOptions, payloadCipher } from "../../src/ledger/codec/encryption.ts";

const KEY_1 = new Uint8Array(32).fill(1);
const KEY_2 = new Uint8Array(32).fill(2);
const OWNER = { tenant: "acme", id: "operation-1" };
const NO_KEYS: EncryptionOptions["keys"] = {};

const cipher = payloadCipher({ keyId: "k1", keys: { k1: KEY_1 } });

describe("a sealed text", () => {
  test("opens for its owner", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(cipher.decrypt(cipher.encrypt(text, OWNER), "k1", OWNER)).toBe(text);
      }),
      { seed: 1 },
    );
  });

  test("shows nothing of what it holds", () => {
    const sealed = cipher.encrypt("visible", OWNER);
    expect(Buffer.from(sealed, "base64url").includes("visible")).toBe(false);
  });

  test("is never the same twice", () => {
    const sealed = Array.from({ length: 100 }, () => cipher.encrypt("same", OWNER));
    expect(new Set(sealed).size).toBe(100);
  });

  test("is AES-256-GCM: iv, tag and ciphertext, bound to length-prefixed tenant and id", () => {
    const bytes = Buffer.from(cipher.encrypt("plain", OWNER), "base64url");
    const decipher = createDecipheriv("aes-256-gcm", KEY_1, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from("\0\0\0\u0004acme\0\0\0\u000boperation-1"));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const text = decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8");
    expect(text).toBe("plain");
  });

  test.each([
    { tenant: "umbrella", id: "operation-1" },
    { tenant: "acme", id: "operation-2" },
    { tenant: "acmeo", id: "peration-1" },
    { tenant: "", id: "acmeoperation-1" },
  ])("does not open in the row of $tenant, $id", (owner) => {
    expect(cipher.decrypt(cipher.encrypt("text", OWNER), "k1", owner)).toBeUndefined();
  });

  test("does not open once any character was changed, added or taken away", () => {
    const sealed = cipher.encrypt("text", OWNER);
    for (let index = 0; index < sealed.length; index++) {
      const other = sealed[index] === "A" ? "B" : "A";
      const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
      expect(cipher.decrypt(changed, "k1", OWNER)).toBeUndefined();
      expect(cipher.decrypt(sealed.slice(0, index), "k1", OWNER)).toBeUndefined();
    }
    for (const more of ["=", "A", "\n", "!"]) {
      expect(cipher.decrypt(sealed + more, "k1", OWNER)).toBeUndefined();
    }
  });

  test("is not taken from nonsense", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
        expect(cipher.decrypt(text, "k1", OWNER)).toBeUndefined();
      }),
      { seed: 2 },
    );
  });
});

describe("keys", () => {
  test("rotate: the new one seals, the old one still opens", () => {
    const old = cipher.encrypt("old", OWNER);
    const rotated = payloadCipher({ keyId: "k2", keys: { k1: KEY_1, k2: KEY_2 } });
    expect(rotated.decrypt(old, "k1", OWNER)).toBe("old");
    const sealed = rotated.encrypt("new", OWNER);
    expect(rotated.decrypt(sealed, rotated.keyId, OWNER)).toBe("new");
    expect(cipher.decrypt(sealed, "k2", OWNER)).toBeUndefined();
  });

  test("of another id or with other bytes open nothing", () => {
    const sealed = cipher.encrypt("text", OWNER);
    const other = payloadCipher({ keyId: "k1", keys: { k1: KEY_2 } });
    expect(other.decrypt(sealed, "k1", OWNER)).toBeUndefined();
    for (const id of ["k2", "__proto__", "constructor", ""]) {
      expect(cipher.decrypt(sealed, id, OWNER)).toBeUndefined();
    }
  });

  test("are taken as they were when the cipher was made", () => {
    const bytes = new Uint8Array(32).fill(3);
    const own = payloadCipher({ keyId: "k", keys: { k: bytes } });
    const sealed = own.encrypt("text", OWNER);
    bytes.fill(0);
    expect(own.decrypt(sealed, "k", OWNER)).toBe("text");
  });

  test.each([
    [
      "a key id that is none of the keys",
      { keyId: "k2", keys: { k1: KEY_1 } },
      "codec.encryption.keyId",
    ],
    [
      "a key id that every object has",
      { keyId: "constructor", keys: NO_KEYS },
      "codec.encryption.keyId",
    ],
    [
      "a key of 16 bytes",
      { keyId: "k", keys: { k: new Uint8Array(16) } },
      "codec.encryption.keys.k",
    ],
    [
      "a key of 33 bytes",
      { keyId: "k", keys: { k: new Uint8Array(33) } },
      "codec.encryption.keys.k",
    ],
    [
      "an old key that is too short",
      { keyId: "k", keys: { k: KEY_1, old: new Uint8Array(0) } },
      "codec.encryption.keys.old",
    ],
    [
      "a key that is text",
      { keyId: "k", keys: { k: "x".repeat(32) as unknown as Uint8Array } },
      "codec.encryption.keys.k",
    ],
  ])("are refused: %s", (_, options: EncryptionOptions, path) => {
    expect(() => payloadCipher(options)).toThrow(InvalidInputError);
    expect(() => payloadCipher(options)).toThrow(expect.objectContaining({ path }));
  });
});
