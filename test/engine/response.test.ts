import { describe, expect, test } from "vitest";
import { bufferResponse, reviveResponse } from "../../src/engine/outcome/result.ts";

describe("a Response", () => {
  test("is read whole, kept, and can still be read by the caller", async () => {
    const { response, kept } = await bufferResponse(
      Response.json({ id: 1 }, { status: 201, headers: { etag: '"7"' } }),
    );
    expect(kept).toEqual({
      status: 201,
      contentType: "application/json",
      body: '{"id":1}',
      encoding: "utf8",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("etag")).toBe('"7"');
    expect(await response.json()).toEqual({ id: 1 });
  });

  test("comes back as a new one: status, content type and body", async () => {
    const { kept } = await bufferResponse(Response.json({ id: 1 }, { status: 201 }));
    const revived = reviveResponse(kept);
    expect(revived.status).toBe(201);
    expect(revived.headers.get("content-type")).toBe("application/json");
    expect(await revived.json()).toEqual({ id: 1 });
  });

  test("whose bytes are no text keeps its bytes", async () => {
    const bytes = Uint8Array.from([0, 255, 254, 128, 10]);
    const { kept } = await bufferResponse(new Response(bytes));
    expect(kept?.encoding).toBe("base64");
    expect(new Uint8Array(await reviveResponse(kept).arrayBuffer())).toEqual(bytes);
  });

  test.each([204, 205, 304])("of %i has no body and comes back without one", async (status) => {
    const { response, kept } = await bufferResponse(new Response(null, { status }));
    expect(response.status).toBe(status);
    expect(reviveResponse(kept)).toMatchObject({ status, body: null });
  });

  test("whose body breaks off keeps its status, and nothing else", async () => {
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new TypeError("terminated"));
      },
    });
    const { response, kept } = await bufferResponse(new Response(broken, { status: 201 }));
    expect(kept).toBeUndefined();
    expect(response.status).toBe(201);
    expect(await response.text()).toBe("");
  });

  test("that was read already keeps its status", async () => {
    const read = Response.json({ id: 1 });
    await read.json();
    const { response, kept } = await bufferResponse(read);
    expect(kept).toBeUndefined();
    expect(response.ok).toBe(true);
  });
});
