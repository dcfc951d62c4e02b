/**
 * Answers of a chat model, in the wire format of the Chat Completions API.
 *
 * @module
 */

import { type Answer, json } from "../../servers/counting-server.ts";

const head = { id: "c", created: 1, model: "m" };

export const chatAnswer = (content: string): Answer =>
  json({
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

/** A call of one tool. */
export const toolCallAnswer = (id: string, name: string, args: object): Answer => {
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  const message = { role: "assistant", content: null, tool_calls: [call] };
  return json({
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "tool_calls", message }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
};

const event = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** A stream of these words; one that breaks drops the connection after them. */
export const chatStream =
  (words: readonly string[], ending: "ends" | "breaks" = "ends"): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of words) response.write(event({ role: "assistant", content }, null));
    if (ending === "breaks") setImmediate(() => response.socket?.destroy());
    else response.end(`${event({}, "stop")}data: [DONE]\n\n`);
  };

/** 503 until the n-th request, then the answer. */
export const after =
  (failures: number, answer: Answer): Answer =>
  (response, arrival, nth) => {
    if (nth > failures) answer(response, arrival, nth);
    else response.writeHead(503, { "content-type": "application/json" }).end("{}");
  };
