import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import {
  type CodecOptions,
  createCodec,
  type KeptResponse,
  type Payload,
} from "../../src/ledger/codec/codec.ts";

const ABOUT = { tenant: "acme", id: "operation-1", tool: "refund_payment" };
const KEY = new Uint8Array(32).fill(1);
const ENCRYPTED: CodecOptions = { encryption: { keyId: "k1", keys: { k1: KEY } } };
const RESPONSE: KeptResponse = {
  status: 201,
  contentType: "text/plain",
  body: "grüezi",
  encoding: "utf8",
};

const plain = createCodec();
const sealed = createCodec(ENCRYPTED);

function payloadOf(codec: typeof plain, value: unknown): Payload {
  const encoded = codec.encode(value, ABOUT);
  if (!encoded.ok) throw new Error(encoded.why);
  return encoded.payload;
}

describe.each([
  ["in plain text", plain, undefined],
  ["encrypted", sealed, "k1"],
])("a payload %s", (_, codec, sealedWith) => {
  test.each([{ id: "re_1", amount: 400 }, [1, "two", null], "text", 0, false, null, {}])(
    "gives back %j",
    (value) => {
      const payload = payloadOf(codec, value);
      expect(payload).toMatchObject({ form: "json" });
      expect(payload.sealedWith).toBe(sealedWith);
      expect(codec.decode(payload, ABOUT)).toEqual({ ok: true, form: "json", value });
    },
  );

  test("gives back undefined as undefined", () => {
    const payload = payloadOf(codec, undefined);
    expect(payload).toEqual({ form: "undefined", text: "" });
    expect(codec.decode(payload, ABOUT)).toEqual({ ok: true, form: "undefined", value: undefined });
  });

  test.each([
    RESPONSE,
    { status: 204, contentType: undefined, body: "", encoding: "utf8" },
    { status: 200, contentType: "image/png", body: "iVBORw==", encoding: "base64" },
  ] satisfies KeptResponse[])("gives back a response of status $status", (kept) => {
    const encoded = codec.encodeResponse(kept, ABOUT);
    if (!encoded.ok) throw new Error(encoded.why);
    expect(encoded.payload).toMatchObject({ form: "response" });
    expect(codec.decode(encoded.payload, ABOUT)).toEqual({
      ok: true,
      form: "response",
      value: kept,
    });
  });

  test("holds an intent of any size, as it is", () => {
    const text = JSON.stringify({ note: "x".repeat(100_000) });
    const payload = codec.encodeText(text, ABOUT);
    expect(payload.sealedWith).toBe(sealedWith);
    // Encrypted text is base64, in which any few letters may come up; a quotation mark does not.
    expect(payload.text.includes('"note"')).toBe(sealedWith === undefined);
    const decoded = codec.decode(payload, ABOUT);
    expect(decoded.ok && JSON.stringify(decoded.value)).toBe(text);
  });

  test("sets no prototype by a key called __proto__", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
    const decoded = codec.decode(payloadOf(codec, value), ABOUT);
    if (!decoded.ok) throw new Error(decoded.why);
    expect(Object.getPrototypeOf(decoded.value)).toBe(Object.prototype);
    expect(Object.hasOwn(decoded.value as object, "__proto__")).toBe(true);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("a result that cannot be kept", () => {
  test("is said to be so, by place and kind", () => {
    const encoded = plain.encode({ items: [{ run: () => 1 }] }, ABOUT);
    expect(encoded).toEqual({ ok: false, why: "value.items[0].run: a function" });
  });

  test("is one that is larger than the limit, 64 KiB without one", () => {
    expect(createCodec({ maxBytes: 5 }).encode("123", ABOUT).ok).toBe(true);
    expect(createCodec({ maxBytes: 5 }).encode("1234", ABOUT).ok).toBe(false);
    expect(plain.encode("x".repeat(65_534), ABOUT).ok).toBe(true);
    expect(plain.encode("x".repeat(65_535), ABOUT)).toEqual({
      ok: false,
      why: "larger than 65536 bytes",
    });
    const large = { ...RESPONSE, body: "x".repeat(65_536) };
    expect(plain.encodeResponse(large, ABOUT).ok).toBe(false);
  });

  test("is measured before it is encrypted, by a limit that may be one byte", () => {
    expect(createCodec({ maxBytes: 1 }).encode(7, ABOUT).ok).toBe(true);
    expect(createCodec({ ...ENCRYPTED, maxBytes: 5 }).encode("123", ABOUT).ok).toBe(true);
  });
});

describe("redaction", () => {
  test("decides what is stored and given back, by tool", () => {
    const codec = createCodec({
      redact: (value, { tool }) => ({ ...(value as object), card: `hidden by ${tool}` }),
    });
    const payload = payloadOf(codec, { id: "re_1", card: "4242" });
    expect(payload.text).toBe('{"id":"re_1","card":"hidden by refund_payment"}');
  });

  test("comes before the size limit", () => {
    const codec = createCodec({ maxBytes: 10, redact: () => "short" });
    expect(codec.encode("x".repeat(1_000), ABOUT).ok).toBe(true);
  });

  test("may leave nothing", () => {
    expect(payloadOf(createCodec({ redact: () => undefined }), "secret")).toEqual({
      form: "undefined",
      text: "",
    });
  });

  test("that throws, or promises to redact later, keeps nothing", () => {
    const throwing = createCodec({
      redact: () => {
        throw new Error("secret");
      },
    });
    expect(throwing.encode("a", ABOUT)).toEqual({ ok: false, why: "redact threw" });
    expect(throwing.encodeResponse(RESPONSE, ABOUT)).toEqual({ ok: false, why: "redact threw" });
    expect(createCodec({ redact: async () => "a" }).encode("a", ABOUT).ok).toBe(false);
  });

  test("sees a response as it is kept, and must return one", () => {
    const blanked = createCodec({ redact: (kept) => ({ ...(kept as KeptResponse), body: "" }) });
    const encoded = blanked.encodeResponse(RESPONSE, ABOUT);
    if (!encoded.ok) throw new Error(encoded.why);
    const value = { ...RESPONSE, body: "" };
    expect(blanked.decode(encoded.payload, ABOUT)).toEqual({ ok: true, form: "response", value });
    for (const other of [undefined, null, "a", {}, { ...RESPONSE, status: "200" }]) {
      expect(createCodec({ redact: () => other }).encodeResponse(RESPONSE, ABOUT)).toEqual({
        ok: false,
        why: "redact did not return a response",
      });
    }
  });

  test("leaves an intent alone", () => {
    const codec = createCodec({ redact: () => "gone" });
    expect(codec.encodeText('{"a":1}', ABOUT)).toEqual({ form: "json", text: '{"a":1}' });
  });
});

describe("a payload that does not open", () => {
  const payload = payloadOf(sealed, { id: "re_1" });
  const CLOSED = { ok: false, why: "it cannot be decrypted with the keys given" };
  const otherKey = createCodec({
    encryption: { keyId: "k1", keys: { k1: new Uint8Array(32).fill(2) } },
  });

  test("is one of another operation or tenant", () => {
    expect(sealed.decode(payload, { ...ABOUT, id: "operation-2" })).toEqual(CLOSED);
    expect(sealed.decode(payload, { ...ABOUT, tenant: "umbrella" })).toEqual(CLOSED);
  });

  test("is one whose key is another, unknown, or not given at all", () => {
    expect(otherKey.decode(payload, ABOUT)).toEqual(CLOSED);
    expect(sealed.decode({ ...payload, sealedWith: "k9" }, ABOUT)).toEqual(CLOSED);
    expect(sealed.decode({ ...payload, sealedWith: "__proto__" }, ABOUT)).toEqual(CLOSED);
    expect(plain.decode(payload, ABOUT)).toEqual(CLOSED);
  });

  test("is one whose text was changed", () => {
    expect(sealed.decode({ ...payload, text: payload.text.slice(1) }, ABOUT)).toEqual(CLOSED);
    expect(sealed.decode({ ...payload, text: "" }, ABOUT)).toEqual(CLOSED);
  });

  test.each(["", "{", "undefined", '{"a":}', "[1,]"])(
    "is one whose text is damaged: %j",
    (text) => {
      const why = "the stored text is damaged";
      expect(plain.decode({ form: "json", text }, ABOUT)).toEqual({ ok: false, why });
      expect(plain.decode({ form: "response", text }, ABOUT)).toEqual({ ok: false, why });
    },
  );

  const responseText = (part: object = {}): string => JSON.stringify({ ...RESPONSE, ...part });

  test.each([
    "null",
    "1",
    "{}",
    responseText({ status: "200" }),
    responseText({ status: 200.5 }),
    responseText({ contentType: 1 }),
    responseText({ body: null }),
    responseText({ encoding: "hex" }),
  ])("is one that is called a response and is none: %s", (text) => {
    expect(plain.decode({ form: "response", text }, ABOUT).ok).toBe(false);
  });

  test("is one of a form nobody knows", () => {
    for (const text of ["1", responseText()]) {
      const strange = { form: "xml", text } as unknown as Payload;
      expect(plain.decode(strange, ABOUT).ok).toBe(false);
    }
  });
});

describe("a codec", () => {
  test("with encryption still reads what was stored before it was switched on", () => {
    expect(sealed.decode(payloadOf(plain, [1]), ABOUT)).toEqual({
      ok: true,
      form: "json",
      value: [1],
    });
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "9" as unknown as number])(
    "refuses %s as its size limit",
    (maxBytes) => {
      expect(() => createCodec({ maxBytes })).toThrow(InvalidInputError);
      expect(() => createCodec({ maxBytes })).toThrow(
        expect.objectContaining({ path: "codec.maxBytes" }),
      );
    },
  );

  test("refuses keys it could not use, before anything is stored", () => {
    const encryption = { keyId: "k2", keys: { k1: KEY } };
    expect(() => createCodec({ encryption })).toThrow(
      expect.objectContaining({ path: "codec.encryption.keyId" }),
    );
  });

  test("refuses a redact that is no function", () => {
    const redact = "***" as unknown as () => unknown;
    expect(() => createCodec({ redact })).toThrow(
      expect.objectContaining({ path: "codec.redact" }),
    );
  });
});
