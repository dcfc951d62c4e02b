/**
 * One request of a person is one turn, in whatever form its messages come back from storage; two requests are two.
 * Each call goes through a guarded tool of the AI SDK, which is given the conversation.
 */
import { HumanMessage } from "@langchain/core/messages";
import { dynamicTool, jsonSchema } from "ai";
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { guardTools } from "../../src/integrations/ai/index.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const user = (content: unknown, more: object = {}) => ({ role: "user", content, ...more });
const assistant = (content: unknown) => ({ role: "assistant", content });
const BYTES = Uint8Array.from([137, 80, 78, 71, 0, 255, 1, 2]);
const BASE64 = Buffer.from(BYTES).toString("base64");
const FILE = "https://files.test/invoice.pdf?v=2";
const picture = (image: unknown) => [
  { type: "text", text: "Pay this" },
  { type: "image", image },
];
const linked = (url: string) => [
  { type: "text", text: "Pay this" },
  { type: "file", data: url },
];

/** How many payments the calls make, each in one thread with the conversation as it stands then. */
async function payments(
  ...conversations: readonly (readonly unknown[] | (() => readonly unknown[]))[]
): Promise<number> {
  const hf = createHoldfire({ app: "shop", store: memoryStore({ forgets: "accepted" }) });
  let paid = 0;
  const pay = dynamicTool({
    inputSchema: jsonSchema<{ cents: number }>({ type: "object" }),
    execute: async () => {
      paid += 1;
      return { paid };
    },
  });
  const tools = guardTools({ pay }, hf, { pay: { kind: "write" } }, { thread: "chat-7" });
  for (const [at, conversation] of conversations.entries()) {
    const messages = typeof conversation === "function" ? conversation() : conversation;
    const call = { toolCallId: `call-${at}`, messages, context: {} };
    await tools.pay.execute?.({ cents: 4_000 }, call as never);
  }
  return paid;
}

describe("one request, told again in another form, is paid once", () => {
  test.each<[string, unknown, unknown]>([
    ["a trailing newline", "Pay p1", "Pay p1\n"],
    ["other white space", "Pay  p1,\r\nnow", "Pay p1,\nnow"],
    [
      "two text parts in place of one",
      "Pay p1, now",
      [
        { type: "text", text: "Pay p1," },
        { type: "text", text: "now" },
      ],
    ],
    ["bytes that became base64", picture(BYTES), picture(BASE64)],
    ["bytes that became a data URL", picture(BYTES), picture(`data:image/png;base64,${BASE64}`)],
    ["bytes that went through JSON", picture(BYTES), picture({ ...BYTES })],
    ["a Buffer that went through JSON", picture(BYTES), picture(Buffer.from(BYTES).toJSON())],
    ["a Blob that became base64", picture(new Blob([BYTES])), picture(BASE64)],
    [
      "another field, with a name and a type",
      picture(BYTES),
      [
        { type: "file", data: BASE64, mediaType: "image/png", filename: "a.png" },
        { type: "text", text: "Pay this" },
      ],
    ],
    [
      "an address signed anew by S3",
      linked(`${FILE}&X-Amz-Date=20261117T1200Z&X-Amz-Signature=aa&X-Amz-Expires=300`),
      linked(`${FILE}&X-Amz-Date=20261117T1300Z&X-Amz-Signature=bb&X-Amz-Expires=300`),
    ],
    [
      "by Google",
      linked(`${FILE}&X-Goog-Signature=aa`),
      linked(`${FILE}&X-Goog-Signature=bb&X-Goog-Date=1`),
    ],
    [
      "by Azure",
      linked(`${FILE}&sv=1&sp=r&se=2026-11-17&sig=aa`),
      linked(`${FILE}&sv=1&sp=r&se=2026-11-18&sig=bb`),
    ],
    [
      "by CloudFront",
      linked(`${FILE}&Expires=1&Signature=aa&Key-Pair-Id=K`),
      linked(`${FILE}&Expires=2&Signature=bb&Key-Pair-Id=K`),
    ],
  ])("%s", async (_, first, again) => {
    expect(await payments([user(first)], [user(again)])).toBe(1);
  });

  test("a conversation that is shortened during the run", async () => {
    const [old, last] = [user("Hello"), user("Pay p1")];
    const step = { role: "tool", content: [] };
    expect(await payments([old, assistant("Hi."), last], [last, assistant("…"), step])).toBe(1);
  });

  test("a conversation that is summarised during the run", async () => {
    const said = ["Hello", "Pay p1"].map((text) => new HumanMessage(text));
    const summary = new HumanMessage({
      content: "Summary: a greeting.",
      additional_kwargs: { lc_source: "summarization" },
    });
    expect(await payments(said, [summary, ...said.slice(1)])).toBe(1);
  });
});

describe("two requests are paid twice", () => {
  const blob = (bytes: number[]) => new Blob([Uint8Array.from(bytes)], { type: "image/png" });

  test.each<[string, unknown, unknown]>([
    ["two Blobs of equal size and type", picture(blob([1, 2])), picture(blob([1, 3]))],
    ["other bytes", picture(BYTES), picture(BYTES.slice(1))],
    ["another file", linked(FILE), linked("https://files.test/other.pdf?v=2")],
    ["another parameter", linked(FILE), linked("https://files.test/invoice.pdf?v=3")],
    [
      "a parameter that is a signature's only beside one",
      linked(`${FILE}&sp=1`),
      linked(`${FILE}&sp=2`),
    ],
    ["file ids that differ in their last bits", linked("file-abQ"), linked("file-abR")],
    ["with and without an attachment", picture(BYTES), "Pay this"],
  ])("%s", async (_, first, second) => {
    expect(await payments([user(first)], [user(second)])).toBe(2);
  });

  test("the same words again, also in the very same object", async () => {
    const said = user("Pay p1");
    expect(await payments([said], [said, assistant("Done."), user("Pay p1")])).toBe(2);
    expect(await payments([said], [said, assistant("Done."), said])).toBe(2);
  });

  test("a message object whose text is changed for the second request", async () => {
    const said = { role: "user", content: "Pay p1" };
    const second = () => {
      said.content = "Pay p2";
      return [said];
    };
    expect(await payments([said], second)).toBe(2);
  });
});
