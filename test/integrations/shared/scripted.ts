/** What the tests of adapters share: the rules of the contract's tool, and a model that says so much and no more. */
import { onTestFinished } from "vitest";
import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import type { Reply } from "../../../src/engine/outcome/reply.ts";
import type { ToolRules } from "../../../src/integrations/shared/tools/rules.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import type { PayDefinition } from "../../../src/testing/adapter-contract.ts";
import { type ModelServer, type Saying, startModelServer } from "../../servers/model-server.ts";
import { type Message, textsIn } from "../../servers/tool-texts.ts";

/** What is left of a definition when the framework has the rest. */
export function rulesOf({ name: _, input: __, run: ___, ...rules }: PayDefinition): ToolRules {
  return rules;
}

/** A server whose model says these things one after the other, then "ok". */
export async function saying(...sayings: readonly Saying[]): Promise<ModelServer> {
  const server = await startModelServer();
  server.script(...sayings.map((one) => ({ act: "say", saying: one }) as const));
  server.usually({ act: "say", saying: { text: "ok" } });
  return server;
}

/** The same, closed with the test. */
export async function modelSaying(...sayings: readonly Saying[]): Promise<ModelServer> {
  const server = await saying(...sayings);
  onTestFinished(() => server.close());
  return server;
}

export function openHoldfire(): Holdfire {
  const hf = createHoldfire({
    store: memoryStore({ forgets: "accepted" }),
    retry: { minDelayMs: 1, maxDelayMs: 1 },
  });
  onTestFinished(() => hf.close());
  return hf;
}

/**
 * All texts that the model read as results of tools, in order, in any of the wire formats. A thread that the
 * provider keeps is sent bit by bit.
 */
export function toolTexts({ arrivals }: ModelServer): readonly string[] {
  const isKept = arrivals.some(({ body }) => body?.thread !== undefined);
  return (isKept ? arrivals : arrivals.slice(-1)).flatMap(({ body }) =>
    ((body?.messages ?? body?.input ?? []) as readonly Message[]).flatMap(textsIn),
  );
}

export const envelopes = (server: ModelServer): readonly Reply[] =>
  toolTexts(server).map((text) => JSON.parse(text));

/** The description and the parameters of the first tool that the model was shown. */
export function shownTool({ arrivals }: ModelServer): { description?: string; schema: Schema } {
  const [tool] = (arrivals[0]?.body?.tools ?? []) as readonly Record<string, never>[];
  const { description, parameters, input_schema } = tool?.function ?? tool ?? {};
  return { description, schema: parameters ?? input_schema } as never;
}

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[] | undefined;
}
