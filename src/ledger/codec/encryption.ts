/**
 * Encrypts payloads with AES-256-GCM, bound to the tenant and the operation they belong to: a text
 * copied to another row cannot be decrypted there.
 *
 * @module
 */

import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { InvalidInputError } from "../../errors.ts";

/** Keys for encrypted payloads, by id. */
export interface EncryptionOptions {
  /** The id of the key that encrypts new payloads. It must be one of `keys`. */
  readonly keyId: string;
  /**
   * All keys that stored payloads may need, 32 bytes each, by id.
   *
   * To rotate, add a key and make it `keyId`. A payload whose key was removed is lost. A key is good
   * for 2^32 payloads.
   */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** The operation that a payload belongs to. */
export interface PayloadOwner {
  readonly tenant: string;
  /** The operation's id. */
  readonly id: string;
}

export interface PayloadCipher {
  readonly keyId: string;
  /** Returns `base64url(iv | tag | ciphertext)`. */
  encrypt(text: string, owner: PayloadOwner): string;
  /** Returns `undefined` if the text was changed, belongs to another operation, or its key is missing. */
  decrypt(encrypted: string, keyId: string, owner: PayloadOwner): string | undefined;
}

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export function payloadCipher({ keyId, keys }: EncryptionOptions): PayloadCipher {
  const known = new Map<string, KeyObject>();
  for (const [id, bytes] of Object.entries(keys)) {
    if (!(bytes instanceof Uint8Array) || bytes.length !== KEY_BYTES) {
      throw new InvalidInputError(`codec.encryption.keys.${id}`, `must be ${KEY_BYTES} bytes.`);
    }
    known.set(id, createSecretKey(bytes));
  }
  const current = known.get(keyId);
  if (!current) throw new InvalidInputError("codec.encryption.keyId", "must be one of the keys.");

  return {
    keyId,
    encrypt(text, owner) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(owner));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    decrypt(encrypted, id, owner) {
      const key = known.get(id);
      const bytes = Buffer.from(encrypted, "base64url");
      // Node skips characters that are not base64url, so the text is compared with its own encoding.
      const isExact = bytes.toString("base64url") === encrypted;
      if (!key || bytes.length < IV_BYTES + TAG_BYTES || !isExact) return undefined;
      const iv = bytes.subarray(0, IV_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(owner));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        const body = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([body, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}

/** Length-prefixed, so that tenant "ab" with id "c" differs from tenant "a" with id "bc". */
function boundTo({ tenant, id }: PayloadOwner): Buffer {
  return Buffer.concat(
    [tenant, id].flatMap((part) => {
      const bytes = Buffer.from(part, "utf8");
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
