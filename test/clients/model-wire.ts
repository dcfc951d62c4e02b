/**
 * Answers of a model in the wire formats of OpenAI (chat completions, responses) and Anthropic
 * (messages), whole or as server-sent events.
 *
 * @module
 */

/** What the model says: text, or a call of a tool. */
export type Saying =
  | { readonly text: string }
  | { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

/** The tokens that every answer says it cost. */
export const USAGE = { input: 7, output: 5 } as const;

export interface Asked {
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** One server-sent event. */
export interface Event {
  readonly event?: string | undefined;
  readonly data: Json | "[DONE]";
}

export const writeEvent = ({ event, data }: Event): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${
    typeof data === "string" ? data : JSON.stringify(data)
  }\n\n`;

const CREATED = 1_700_000_000;

// Chat completions

const chatUsage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
};

const chatToolCall = (saying: Extract<Saying, { tool: string }>, n: number) => ({
  id: `call_${n}`,
  type: "function",
  function: { name: saying.tool, arguments: JSON.stringify(saying.args) },
});

export function chatCompletion(saying: Saying, n: number, { model = "gpt-test" }: Asked): Json {
  const isText = "text" in saying;
  return {
    id: `chatcmpl-${n}`,
    object: "chat.completion",
    created: CREATED,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: isText ? saying.text : null,
          refusal: null,
          ...(isText ? {} : { tool_calls: [chatToolCall(saying, n)] }),
        },
        logprobs: null,
        finish_reason: isText ? "stop" : "tool_calls",
      },
    ],
    usage: chatUsage,
  };
}

export function chatEvents(saying: Saying, n: number, asked: Asked): readonly Event[] {
  const common = {
    id: `chatcmpl-${n}`,
    object: "chat.completion.chunk",
    created: CREATED,
    model: asked.model ?? "gpt-test",
  };
  const chunk = (delta: Json, finish: string | null): Event => ({
    data: { ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  });
  const isText = "text" in saying;
  const deltas = isText
    ? halves(saying.text).map((content) => chunk({ content }, null))
    : [chunk({ tool_calls: [{ index: 0, ...chatToolCall(saying, n) }] }, null)];
  return [
    chunk({ role: "assistant", content: isText ? "" : null }, null),
    ...deltas,
    chunk({}, isText ? "stop" : "tool_calls"),
    ...(asked.stream_options?.include_usage
      ? [{ data: { ...common, choices: [], usage: chatUsage } }]
      : []),
    { data: "[DONE]" },
  ];
}

// Responses

const outputItem = (saying: Saying, n: number): Json =>
  "text" in saying
    ? {
        id: `msg_${n}`,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: saying.text, annotations: [] }],
      }
    : {
        id: `fc_${n}`,
        type: "function_call",
        call_id: `call_${n}`,
        name: saying.tool,
        arguments: JSON.stringify(saying.args),
        status: "completed",
      };

export type ResponseStatus = "queued" | "in_progress" | "completed" | "failed";

export function responseObject(
  saying: Saying,
  n: number,
  { model = "gpt-test" }: Asked,
  status: ResponseStatus = "completed",
  background = false,
): Json {
  const isDone = status === "completed";
  return {
    id: `resp_${n}`,
    object: "response",
    created_at: CREATED,
    status,
    background,
    error: status === "failed" ? { code: "server_error", message: "It failed." } : null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: isDone ? [outputItem(saying, n)] : [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: isDone
      ? {
          input_tokens: USAGE.input,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: USAGE.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: USAGE.input + USAGE.output,
        }
      : null,
  };
}

export function responseEvents(saying: Saying, n: number, asked: Asked): readonly Event[] {
  const item = outputItem(saying, n);
  const started = responseObject(saying, n, asked, "in_progress");
  const at = { item_id: item.id, output_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  const inner: readonly Json[] =
    "text" in saying
      ? [
          { type: "response.content_part.added", ...at, content_index: 0, part },
          ...halves(saying.text).map((delta) => ({
            type: "response.output_text.delta",
            ...at,
            content_index: 0,
            delta,
          })),
          { type: "response.output_text.done", ...at, content_index: 0, text: saying.text },
          {
            type: "response.content_part.done",
            ...at,
            content_index: 0,
            part: { ...part, text: saying.text },
          },
        ]
      : [
          { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
          {
            type: "response.function_call_arguments.done",
            ...at,
            arguments: item.arguments,
          },
        ];
  const all: readonly Json[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", ...("text" in saying ? { content: [] } : {}) },
    },
    ...inner,
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: responseObject(saying, n, asked) },
  ];
  return all.map((data, index) => ({
    event: String(data.type),
    data: { ...data, sequence_number: index },
  }));
}

// Messages

const contentBlock = (saying: Saying, n: number): Json =>
  "text" in saying
    ? { type: "text", text: saying.text, citations: null }
    : { type: "tool_use", id: `toolu_${n}`, name: saying.tool, input: saying.args };

export function message(saying: Saying, n: number, { model = "claude-test" }: Asked): Json {
  return {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model,
    content: [contentBlock(saying, n)],
    stop_reason: "text" in saying ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

export function messageEvents(saying: Saying, n: number, asked: Asked): readonly Event[] {
  const isText = "text" in saying;
  const block = contentBlock(saying, n);
  const deltas: readonly Json[] = isText
    ? halves(saying.text).map((text) => ({ type: "text_delta", text }))
    : [{ type: "input_json_delta", partial_json: JSON.stringify(saying.args) }];
  const all: readonly Json[] = [
    {
      type: "message_start",
      message: {
        ...message(saying, n, asked),
        content: [],
        stop_reason: null,
        usage: { input_tokens: USAGE.input, output_tokens: 1 },
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { ...block, ...(isText ? { text: "" } : { input: {} }) },
    },
    { type: "ping" },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    },
    { type: "message_stop" },
  ];
  return all.map((data) => ({ event: String(data.type), data }));
}

const halves = (text: string): readonly string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
};
