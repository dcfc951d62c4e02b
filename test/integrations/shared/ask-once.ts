/**
 * A process that asks a model once, in a scope, and records the answer. Prints what it was told.
 *
 *     node ask-once.ts openai|anthropic SERVER LEDGER
 *
 * It then ends without ceremony, as a crash would end it.
 *
 * @module
 */

import { createHoldfire } from "../../../src/create.ts";
import { ownRetries as ownAnthropic } from "../../../src/integrations/anthropic/index.ts";
import { ownRetries as ownOpenAI } from "../../../src/integrations/openai/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";

const [which, origin, path] = process.argv.slice(2);

const hf = createHoldfire({ store: sqliteStore({ path }) });

async function askOpenAI(): Promise<string> {
  const { OpenAI } = await import("openai");
  const client = ownOpenAI(new OpenAI({ baseURL: `${origin}/v1`, apiKey: "k" }), hf, {
    record: true,
  });
  const answer = await client.responses.create({ model: "gpt-test", input: "Hi" });
  return answer.output_text;
}

async function askAnthropic(): Promise<string> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = ownAnthropic(new Anthropic({ baseURL: origin, apiKey: "k" }), hf, {
    record: true,
  });
  const stream = client.messages.stream({
    model: "claude-test",
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi" }],
  });
  return stream.finalText();
}

const told = await hf.scope("job-1", which === "openai" ? askOpenAI : askAnthropic);
process.stdout.write(told, () => process.kill(process.pid, "SIGKILL"));
