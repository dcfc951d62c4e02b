/**
 * Turns a value into a payload of the ledger and back: size limit, redaction, encryption.
 *
 * Only creating the codec can throw. A result that cannot be stored was still committed, so `encode`
 * returns the reason instead of throwing it.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { visible } from "../../key/escape-hidden.ts";
import { ignoreRejection, peek } from "../../lang/peek.ts";
import { type EncryptionOptions, type PayloadOwner, payloadCipher } from "./encryption.ts";
import { writeJson } from "./strict-json.ts";

/** A value as the ledger keeps it. */
export interface Payload {
  /** How `text` is to be read. */
  readonly form: "json" | "undefined" | "response";
  readonly text: string;
  /** Set when `text` is encrypted (AES-256-GCM): the id of the key. */
  readonly sealedWith?: string | undefined;
}

export interface CodecOptions {
  /**
   * The largest result that is stored, in bytes of its JSON. A larger one is committed without its
   * payload: a repeated call reads it again if the tool can, else it gets `ResultLostError`.
   *
   * @default 65_536
   */
  readonly maxBytes?: number | undefined;
  /**
   * Returns the result without what must not be stored; a replay returns this. It must not change the
   * value in place. A fetch `Response` comes as a `KeptResponse`. If it throws, nothing of the result
   * is stored.
   *
   * It is also given the text of each error, as `ErrorText`, with `of: "error"`: what it returns in `line` and `said`
   * is stored and told. If it throws or returns anything else, no text is.
   *
   * @default the result is stored unchanged; in the text of errors, what looks like a secret is hidden
   */
  readonly redact?:
    | ((
        value: unknown,
        about: { readonly tool: string; readonly of: "result" | "error" },
      ) => unknown)
    | undefined;
  /**
   * Whether the first line of an attempt's error, and the service's words in a failed answer, are stored and told: in
   * the messages of errors and replies, and in `holdfire show`. `false`: only class, code and status are. The error
   * itself is the `cause` either way.
   *
   * @default true
   */
  readonly errorText?: boolean | undefined;
  /**
   * Encrypts intents, questions and results with AES-256-GCM. Payloads stored before it was switched
   * on stay readable.
   *
   * @default payloads are stored as plain text
   */
  readonly encryption?: EncryptionOptions | undefined;
}

/** The stored part of a fetch `Response`. */
export interface KeptResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** How `body` encodes the bytes received. */
  readonly encoding: "utf8" | "base64";
}

/** What is kept of an error's text: one line each, with what looks like a secret hidden. */
export interface ErrorText {
  /** The first line of the error's message. */
  readonly line?: string | undefined;
  /** What the service said in its answer. */
  readonly said?: string | undefined;
}

/** The operation and the tool that a result belongs to. */
export interface ResultOwner extends PayloadOwner {
  readonly tool: string;
}

export type Encoded =
  | { readonly ok: true; readonly payload: Payload }
  /** `why` names the place and the rule, never the content. */
  | { readonly ok: false; readonly why: string };

export type Decoded =
  | { readonly ok: true; readonly form: "json" | "undefined"; readonly value: unknown }
  | { readonly ok: true; readonly form: "response"; readonly value: KeptResponse }
  | { readonly ok: false; readonly why: string };

export interface Codec {
  /** Encodes a result. A value that JSON cannot carry is refused, not changed. */
  encode(value: unknown, about: ResultOwner): Encoded;
  /** `leastBytes` raises the size limit for this response, if the limit is lower. */
  encodeResponse(kept: KeptResponse, about: ResultOwner, leastBytes?: number): Encoded;
  /** Encodes text that is JSON already, such as a canonical intent: no size limit, no redaction. */
  encodeText(text: string, about: PayloadOwner): Payload;
  decode(payload: Payload, about: PayloadOwner): Decoded;
  /** The text of an error as it may be stored and told; `undefined` if nothing of it may. */
  redactText(text: ErrorText, tool: string): ErrorText | undefined;
  /** The largest result that is stored. */
  readonly maxBytes: number;
}

const DEFAULT_MAX_BYTES = 65_536;

export function createCodec(options: CodecOptions = {}): Codec {
  const { maxBytes = DEFAULT_MAX_BYTES, redact, errorText = true, encryption } = options;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new InvalidInputError("codec.maxBytes", "must be a whole number of bytes, 1 or more.");
  }
  if (redact !== undefined && typeof redact !== "function") {
    throw new InvalidInputError("codec.redact", "must be a function.");
  }
  if (typeof errorText !== "boolean") {
    throw new InvalidInputError("codec.errorText", "must be true or false.");
  }
  const cipher = encryption && payloadCipher(encryption);

  const keep = (form: Payload["form"], text: string, owner: PayloadOwner): Payload =>
    cipher ? { form, text: cipher.encrypt(text, owner), sealedWith: cipher.keyId } : { form, text };

  function encodeAs(
    form: "json" | "response",
    given: unknown,
    about: ResultOwner,
    leastBytes = 0,
  ): Encoded {
    let value = given;
    try {
      if (redact) value = ignoreRejection(redact(given, { tool: about.tool, of: "result" }));
    } catch {
      return { ok: false, why: "redact threw" };
    }
    if (form === "response" && !isKeptResponse(value)) {
      return { ok: false, why: "redact did not return a response" };
    }
    const written = writeJson(value, Math.max(maxBytes, leastBytes));
    if (written.tag === "refused") return { ok: false, why: written.why };
    if (written.tag === "undefined") return { ok: true, payload: { form: "undefined", text: "" } };
    return { ok: true, payload: keep(form, written.text, about) };
  }

  return {
    maxBytes,
    encode: (value, about) => encodeAs("json", value, about),
    encodeResponse: (kept, about, leastBytes) => encodeAs("response", kept, about, leastBytes),
    encodeText: (text, about) => keep("json", text, about),
    decode({ form, text, sealedWith }, about) {
      if (form === "undefined") return { ok: true, form, value: undefined };
      const plain = sealedWith === undefined ? text : cipher?.decrypt(text, sealedWith, about);
      if (plain === undefined) {
        return { ok: false, why: "it cannot be decrypted with the keys given" };
      }
      return parse(form, plain);
    },
    redactText(text, tool) {
      if (!errorText || (text.line === undefined && text.said === undefined)) return undefined;
      try {
        const told = redact ? ignoreRejection(redact({ ...text }, { tool, of: "error" })) : text;
        const [line, said] = [peek(told, "line"), peek(told, "said")].map(shortLine);
        return line === undefined && said === undefined ? undefined : { line, said };
      } catch {
        return undefined;
      }
    },
  };
}

const LONGEST_TEXT = 500;

const shortLine = (text: unknown): string | undefined =>
  typeof text === "string" && text !== "" ? visible(text, LONGEST_TEXT) : undefined;

function parse(form: "json" | "response", text: string): Decoded {
  let value: unknown;
  try {
    // `JSON.parse` makes `__proto__` an ordinary property; it sets no prototype.
    value = JSON.parse(text);
  } catch {
    return { ok: false, why: "the stored text is damaged" };
  }
  if (form === "json") return { ok: true, form, value };
  if (form !== "response" || !isKeptResponse(value)) {
    return { ok: false, why: "the stored text is not what its form says" };
  }
  const { status, contentType, body, encoding } = value;
  return { ok: true, form, value: { status, contentType, body, encoding } };
}

function isKeptResponse(value: unknown): value is KeptResponse {
  if (typeof value !== "object" || value === null) return false;
  const { status, contentType, body, encoding } = value as Partial<Record<string, unknown>>;
  return (
    typeof status === "number" &&
    Number.isInteger(status) &&
    (contentType === undefined || typeof contentType === "string") &&
    typeof body === "string" &&
    (encoding === "utf8" || encoding === "base64")
  );
}
