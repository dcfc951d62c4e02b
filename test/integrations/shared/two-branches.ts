/**
 * A process with two branches at once, each of them a guarded tool, a recorded model call and a guarded payment. Prints
 * what was paid.
 *
 *     node two-branches.ts SERVER LEDGER
 *
 * While the tools are new the right branch asks the model first; replayed, the left one does. The process then ends
 * without ceremony, as a crash would end it.
 *
 * @module
 */

import { OpenAI } from "openai";
import { createHoldfire } from "../../../src/create.ts";
import { ownRetries } from "../../../src/integrations/openai/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";

const [origin, path] = process.argv.slice(2);

const hf = createHoldfire({ store: sqliteStore({ path }) });
const client = ownRetries(new OpenAI({ baseURL: `${origin}/v1`, apiKey: "k" }), hf, {
  record: true,
});

const rightHasAsked = new Promise<void>((resolve) => {
  hf.on("sample", () => resolve());
});

const lookUp = hf.tool({
  name: "look_up",
  kind: "write",
  run: async ({ name }: { readonly name: string }) => {
    if (name === "left") await rightHasAsked;
    return `facts of ${name}`;
  },
});

const pay = hf.tool({
  name: "pay",
  kind: "write",
  run: async ({ what }: { readonly what: string }) => {
    await fetch(`${origin}/payments`, { method: "POST", body: what });
    return what;
  },
});

async function branch(name: string): Promise<string> {
  const input = await lookUp({ name });
  const answer = await client.responses.create({ model: "gpt-test", input });
  return pay({ what: `${name}: ${answer.output_text}` });
}

const paid = await hf.scope("job-1", () => Promise.all([branch("left"), branch("right")]));
process.stdout.write(paid.join(", "), () => process.kill(process.pid, "SIGKILL"));
