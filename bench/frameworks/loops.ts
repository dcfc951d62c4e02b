/**
 * Rows: the tool runners of the OpenAI and Anthropic SDKs, and a loop that people write themselves.
 *
 * @module
 */

import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { runToolCalls } from "../../src/integrations/openai/index.ts";
import type { Framework, None } from "./columns.ts";
import { runProgram, THREAD } from "./program.ts";
import { PAY, PAY_SCHEMA, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

const user = (content: string) => ({ role: "user" as const, content });
const openaiOf = ({ model }: Stage) =>
  new OpenAI({ apiKey: "x", baseURL: model.openai, maxRetries: 0 });

const NO_RETRY: None = { none: "it makes no tool call again" };
const KEEPS_NOTHING: None = { none: "it keeps nothing: a run that died is run again" };
const NO_APPROVAL: None = { none: 'it asks no person; holdfire does, for kind: "destructive"' };

export const runTools: Framework = {
  name: "openai runTools",
  run: (stage, run) => runProgram("openai", stage, run),
  ownRetry: NO_RETRY,
  resume: KEEPS_NOTHING,
  approval: NO_APPROVAL,
};

export const toolRunner: Framework = {
  name: "anthropic toolRunner",
  run: (stage, run) => runProgram("anthropic", stage, run),
  ownRetry: NO_RETRY,
  resume: KEEPS_NOTHING,
  approval: NO_APPROVAL,
};

const DECLARED = [
  { type: "function" as const, function: { name: "pay", parameters: PAY_SCHEMA as never } },
];
const MAX_STEPS = 4;

export type Answer = OpenAI.Chat.Completions.ChatCompletion;
type Messages = ChatCompletionMessageParam[];

/** Answers the tool calls of one response. */
export type AnswerCalls = (answer: Answer, messages: Messages) => Promise<Messages>;

export const askModel = (stage: Stage, messages: Messages, signal?: AbortSignal): Promise<Answer> =>
  openaiOf(stage).chat.completions.create(
    { model: "m", messages, tools: DECLARED },
    signal ? { signal } : {},
  );

/** The loop that people write. */
export async function loop(
  stage: Stage,
  said: readonly string[],
  answerCalls: AnswerCalls,
  signal?: AbortSignal,
): Promise<void> {
  const messages: Messages = said.map(user);
  for (let step = 0; step < MAX_STEPS; step++) {
    const answer = await askModel(stage, messages, signal);
    const [choice] = answer.choices;
    if (!choice?.message.tool_calls) return;
    const results = await answerCalls(answer, messages);
    messages.push(choice.message, ...results);
  }
}

/** Without holdfire: call what is asked for, tell the model of failures. */
export const byHand =
  (call: (args: Payment) => Promise<unknown>): AnswerCalls =>
  async (answer) =>
    Promise.all(
      (answer.choices[0]?.message.tool_calls ?? []).map(async (one) => {
        const args = JSON.parse("function" in one ? one.function.arguments : "{}");
        const content = await call(args).then(JSON.stringify, (error) => `Error: ${error}`);
        return { role: "tool" as const, tool_call_id: one.id, content };
      }),
    );

function answering(stage: Stage, signal?: AbortSignal): AnswerCalls {
  const { hf, pay } = stage;
  if (!hf) return byHand((args) => pay(args, signal));
  const tool = hf.tool({
    ...RULES,
    name: "pay",
    run: (args: Payment, { signal: stop }) => pay(args, stop),
  });
  return async (answer, messages) =>
    runToolCalls(answer, [tool], { thread: THREAD, messages, signal }) as Promise<Messages>;
}

export const handWritten: Framework = {
  name: "hand-written loop",
  run: (stage, { said, signal }) => loop(stage, said, answering(stage, signal), signal),
  ownRetry: { none: "it has what people write; see run again" },
  async resume(stage) {
    stage.says(PAY);
    const messages = [user(WORDS)];
    // Kept before its tools are called, and not after.
    const kept = JSON.stringify(await askModel(stage, messages));
    for (const _ of [1, 2]) {
      await answering(stage)(JSON.parse(kept), structuredClone(messages));
    }
  },
  approval: NO_APPROVAL,
};
