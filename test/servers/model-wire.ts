/**
 * Answers of a model in the wire formats of OpenAI (chat completions, responses) and Anthropic
 * (messages), whole or as server-sent events.
 *
 * @module
 */

/** One call of a tool. Arguments may be the very text that the model wrote. */
export interface ToolSaying {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>> | string;
  /** @default one made of the request's number */
  readonly id?: string | undefined;
}

/** What the model says: text, a call of a tool, or several calls at once. */
export type Saying =
  | { readonly text: string }
  | ToolSaying
  | { readonly calls: readonly ToolSaying[] };

const isSilent = (saying: Saying): saying is Exclude<Saying, { text: string }> =>
  !("text" in saying);

/** The calls, each with its id and the text of its arguments. */
function callsOf(saying: Saying, prefix: string, n: number) {
  if (!isSilent(saying)) return [];
  const isOne = "tool" in saying;
  return (isOne ? [saying] : saying.calls).map(({ tool, args, id }, index) => ({
    id: id ?? (isOne ? `${prefix}${n}` : `${prefix}${n}_${index}`),
    name: tool,
    text: typeof args === "string" ? args : JSON.stringify(args),
  }));
}

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

const chatToolCalls = (saying: Saying, n: number) =>
  callsOf(saying, "call_", n).map(({ id, name, text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));

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
          ...(isText ? {} : { tool_calls: chatToolCalls(saying, n) }),
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
    : chatToolCalls(saying, n).map((call, index) =>
        chunk({ tool_calls: [{ index, ...call }] }, null),
      );
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

const outputItems = (saying: Saying, n: number): readonly Json[] =>
  "text" in saying
    ? [
        {
          id: `msg_${n}`,
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: saying.text, annotations: [] }],
        },
      ]
    : callsOf(saying, "call_", n).map(({ id, name, text }, index) => ({
        id: index === 0 ? `fc_${n}` : `fc_${n}_${index}`,
        type: "function_call",
        call_id: id,
        name,
        arguments: text,
        status: "completed",
      }));

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
    output: isDone ? outputItems(saying, n) : [],
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
  const started = responseObject(saying, n, asked, "in_progress");
  const all: readonly Json[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...outputItems(saying, n).flatMap((item, index) => itemEvents(saying, item, index)),
    { type: "response.completed", response: responseObject(saying, n, asked) },
  ];
  return all.map((data, index) => ({
    event: String(data.type),
    data: { ...data, sequence_number: index },
  }));
}

function itemEvents(saying: Saying, item: Json, index: number): readonly Json[] {
  const at = { item_id: item.id, output_index: index };
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
  return [
    {
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress", ...("text" in saying ? { content: [] } : {}) },
    },
    ...inner,
    { type: "response.output_item.done", output_index: index, item },
  ];
}

// Messages

const contentBlocks = (saying: Saying, n: number): readonly Json[] =>
  "text" in saying
    ? [{ type: "text", text: saying.text, citations: null }]
    : callsOf(saying, "toolu_", n).map(({ id, name, text }) => ({
        type: "tool_use",
        id,
        name,
        input: JSON.parse(text),
      }));

export function message(saying: Saying, n: number, { model = "claude-test" }: Asked): Json {
  return {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model,
    content: contentBlocks(saying, n),
    stop_reason: "text" in saying ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

export function messageEvents(saying: Saying, n: number, asked: Asked): readonly Event[] {
  const isText = "text" in saying;
  const texts = callsOf(saying, "toolu_", n).map(({ text }) => text);
  const deltasOf = (index: number): readonly Json[] =>
    isText
      ? halves(saying.text).map((text) => ({ type: "text_delta", text }))
      : [{ type: "input_json_delta", partial_json: texts[index] }];
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
    ...contentBlocks(saying, n).flatMap((block, index): readonly Json[] => [
      {
        type: "content_block_start",
        index,
        content_block: { ...block, ...(isText ? { text: "" } : { input: {} }) },
      },
      { type: "ping" },
      ...deltasOf(index).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
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
