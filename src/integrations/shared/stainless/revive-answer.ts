/**
 * A recorded answer as the SDK would have received it. Of a stream whose reader left, what was read is given back;
 * who reads on gets an error, because a part of an answer must not pass for the whole.
 *
 * @module
 */

import type { Engine } from "../../../engine/engine.ts";
import { reviveResponse } from "../../../engine/outcome/response.ts";
import { sampleFacts } from "../../../engine/reads-and-samples/sample-record.ts";
import { ResultLostError } from "../../../errors.ts";
import type { KeptResponse } from "../../../ledger/codec/codec.ts";
import { followAnswer, formOf } from "./answer.ts";
import type { TakenStep } from "./recorded-step.ts";

const NO_MORE =
  "The reader of this stream left it here, and the rest was not received. Ask again for a new answer";

export function reviveAnswer(
  { step, kept }: { readonly step: TakenStep; readonly kept: KeptResponse },
  engine: Engine,
): Response {
  const response = reviveResponse(kept);
  const { status, headers } = response;
  if (formOf(response) !== "events") return response;
  const bytes = Buffer.from(kept.body, kept.encoding);
  const answer = followAnswer("events");
  answer.see(bytes);
  if (!answer.isCut()) return response;
  let given = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (given) controller.error(new ResultLostError(sampleFacts(step, engine), NO_MORE));
        else controller.enqueue(bytes);
        given = true;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers });
}
