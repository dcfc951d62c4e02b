/** Recorded calls that are made at once, some of them equal, some failing, some left early: a rerun asks nothing. */

import OpenAI from "openai";
import { expect, test } from "vitest";
import { ownRetries } from "../../src/integrations/openai/index.ts";
import { createChance } from "../battery/world/chance.ts";
import { turn } from "../engine/virtual-clock.ts";
import { openStage } from "../integrations/shared/owned.ts";

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const MODEL = "gpt-test";

interface Call {
  readonly input: string;
  readonly how: "whole" | "streamed" | "left_early";
}

async function ask(client: OpenAI, { input, how }: Call): Promise<string> {
  if (how === "whole") return (await client.responses.create({ model: MODEL, input })).output_text;
  const stream = await client.responses.create({ model: MODEL, input, stream: true });
  let text = "";
  for await (const event of stream) {
    if (event.type !== "response.output_text.delta") continue;
    text += event.delta;
    if (how === "left_early") break;
  }
  return text;
}

test.each(SEEDS)("in whatever order they are made (seed %i)", async (seed) => {
  const stage = await openStage();
  const chance = createChance(seed);
  const calls = Array.from({ length: chance.between(2, 7) }, (): Call => {
    const how = (["whole", "streamed", "left_early"] as const)[chance.between(0, 2)] ?? "whole";
    // Of equal requests each may get the other's answer; so they are read in the same way.
    return { input: `${how} ${chance.between(1, 2)}`, how };
  });
  const failure = { act: "status", status: 503 } as const;
  stage.server.script(
    ...calls.map(() => (chance.next() < 0.3 ? failure : ({ act: "say" } as const))),
  );

  const run = async (): Promise<readonly string[]> => {
    const hf = stage.another();
    const raw = new OpenAI({ baseURL: stage.server.openai, apiKey: "k" });
    const client = ownRetries(raw, hf, { record: true, attempts: 1 });
    const told = calls.map(async (call) => {
      for (let turns = chance.between(0, 6); turns > 0; turns -= 1) await turn();
      const again = (): Promise<string> => ask(client, call).catch(again);
      return `${call.input}: ${await again()}`;
    });
    return (await Promise.all(told)).sort();
  };
  const inJob = () => stage.pass(stage.hf.scope("job", run));

  const first = await inJob();
  const asked = stage.server.arrivals.length;
  for (let rerun = 0; rerun < 3; rerun += 1) expect(await inJob()).toEqual(first);
  expect(stage.server.arrivals).toHaveLength(asked);
});
