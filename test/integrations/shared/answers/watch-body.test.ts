import { expect, test } from "vitest";
import {
  type Watcher,
  watchBody,
} from "../../../../src/integrations/shared/stainless/watch-answer.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A body of these chunks, and what became of it. */
function source(chunks: readonly string[], broken?: Error) {
  let pulled = 0;
  let canceled: unknown;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[pulled];
        pulled += 1;
        if (chunk !== undefined) controller.enqueue(bytes(chunk));
        else if (broken) controller.error(broken);
        else controller.close();
      },
      cancel(reason) {
        canceled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const response = new Response(body, { status: 201, headers: { "x-a": "1" } });
  return { response, pulled: () => pulled, canceled: () => canceled };
}

function watcher(more: Partial<Watcher> = {}) {
  const seen: string[] = [];
  const all: Watcher = {
    see: (chunk) => void seen.push(new TextDecoder().decode(chunk)),
    end: async () => void seen.push("end"),
    broke: () => void seen.push("broke"),
    left: async () => void seen.push("left"),
    holds: () => false,
    ...more,
  };
  return { all, seen };
}

test("the answer is the same, and its body was seen", async () => {
  const { all, seen } = watcher();
  const watched = watchBody(source(["a", "b"]).response, all);
  expect([watched.status, watched.headers.get("x-a")]).toEqual([201, "1"]);
  expect(await watched.text()).toBe("ab");
  expect(seen).toEqual(["a", "b", "end"]);
});

test("nothing is read that nobody asks for", async () => {
  const { response, pulled } = source(["a", "b", "c"]);
  const reader = watchBody(response, watcher().all).body?.getReader();
  await reader?.read();
  expect(pulled()).toBe(1);
});

test("a reader who leaves is passed on to the source", async () => {
  const { response, canceled } = source(["a", "b"]);
  const { all, seen } = watcher();
  const reader = watchBody(response, all).body?.getReader();
  await reader?.read();
  await reader?.cancel("enough");
  expect(canceled()).toBe("enough");
  expect(seen).toEqual(["a", "left"]);
});

test("a body that breaks, breaks with its own error", async () => {
  const error = new Error("gone");
  const { all, seen } = watcher();
  await expect(watchBody(source(["a"], error).response, all).text()).rejects.toBe(error);
  expect(seen).toEqual(["a", "broke"]);
});

test("what is held back is passed on at the end, or what stands in its place", async () => {
  const held = watcher({ holds: () => true });
  expect(await watchBody(source(["a", "b"]).response, held.all).text()).toBe("ab");
  const other = watcher({ holds: () => true, end: async () => bytes("other") });
  expect(await watchBody(source(["a", "b"]).response, other.all).text()).toBe("other");
});

test("what need not be held any longer is passed on at once", async () => {
  let count = 0;
  const some = watcher({
    see() {
      count += 1;
    },
    holds: () => count < 2,
  });
  const reader = watchBody(source(["a", "b", "c"]).response, some.all).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("a");
  expect(count).toBe(2);
});

test("an answer without a body is passed on as it is", () => {
  const empty = new Response(null, { status: 204 });
  expect(watchBody(empty, watcher().all)).toBe(empty);
});
