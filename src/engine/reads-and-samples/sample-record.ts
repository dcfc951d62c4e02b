/**
 * The first answer of a sample is canonical: it is kept under scope and step, and a rerun gets it back.
 *
 * Nothing is claimed before the send. A sample changes nothing in the world, so a crash may ask again;
 * a claim left behind by it would only stand in the way.
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import { mintId, wireKey } from "../../key/mint.ts";
import { type Scope, showScope } from "../../key/scope.ts";
import { sleep } from "../../lang/clock.ts";
import type { KeptResponse, Payload } from "../../ledger/codec/codec.ts";
import type { Moved, Ref } from "../../ledger/ledger.ts";
import type { Draft } from "../../ledger/moves/moves.ts";
import type { Stored } from "../../ledger/record.ts";
import { plainClaim } from "../claim-terms.ts";
import { type Engine, inBackground } from "../engine.ts";
import { askStore, inStoreTime } from "../store-call.ts";

/** The largest answer that is kept, in bytes of its JSON, where the holdfire's own cap is lower. */
export const SAMPLE_BYTES = 1_048_576;

/** Long enough to write the answer that is already there; whoever meets the claim waits no longer. */
const LEASE_MS = 2_000;
const BUSY_POLL_MS = 50;

/** One step of a scope, and what is asked in it. */
export interface SampleStep {
  readonly client: string;
  readonly scope: Scope;
  readonly step: string;
  /** The hash of the request: another one is another prompt. */
  readonly hash: string;
  /** The operation in whose attempt it is asked. */
  readonly parent: string | undefined;
  /** The step has the answer to another prompt. */
  readonly onDrift: () => void;
}

/** Where an answer belongs in the ledger. */
interface SamplePlace {
  readonly ref: Ref;
  readonly draft: Draft;
}

/** The answer this step got before. Throws if the ledger does not answer: nothing was sent yet. */
export async function recallSample(
  step: SampleStep,
  engine: Engine,
): Promise<KeptResponse | undefined> {
  const { ledger } = engine;
  if (!ledger.isOpen()) await askStore(engine, "open", ledger.open());
  const read = (again?: string) =>
    askStore(engine, "read", ledger.read(placeOf(step, again, engine).ref));
  const stored = await read();
  if (!isAnotherPrompt(stored, step)) return keptIn(stored, engine);
  step.onDrift();
  return keptIn(await read(step.hash), engine);
}

/**
 * Keeps the answer and returns the canonical one: another caller's, if that was faster. Where the step has the answer
 * to another prompt, this one is kept beside it.
 */
export async function keepSample(
  step: SampleStep,
  kept: KeptResponse,
  engine: Engine,
  again?: string,
): Promise<KeptResponse> {
  const { events, codec } = engine;
  const place = placeOf(step, again, engine);
  const owner = { ...place.ref, tool: place.draft.identity.tool };
  const encoded = codec.encodeResponse(kept, owner, SAMPLE_BYTES);
  if (!encoded.ok) {
    loseSample(step, encoded.why, engine);
    return kept;
  }
  const holder = engine.newId();
  const write = () => writeDown(place, encoded.payload, holder, engine);
  const inTime = await inStoreTime(engine, write());
  if (inTime.tag === "done") {
    const { stored } = inTime.value;
    if (isAnotherPrompt(stored, step)) {
      step.onDrift();
      return keepSample(step, kept, engine, step.hash);
    }
    return keptIn(stored, engine) ?? kept;
  }
  events.emit("store", () => ({ ...about(place), status: "unrecorded" }));
  inBackground(engine, async () => {
    if ((await engine.persist(write)) === "closed") return;
    events.emit("store", () => ({ ...about(place), status: "recorded" }));
  });
  return kept;
}

/** Says that an answer could not be kept. */
export const loseSample = (step: SampleStep, why: string, engine: Engine): void =>
  engine.events.emit("warning", () => ({
    ...about(placeOf(step, undefined, engine)),
    code: "payload_lost",
    why,
  }));

/** Names a recorded answer in errors. */
export function sampleFacts(step: SampleStep, engine: Engine): OperationFacts {
  const { tool, id, key } = about(placeOf(step, undefined, engine));
  return { tool, id, key };
}

const isAnotherPrompt = (stored: Stored | undefined, { hash }: SampleStep): boolean =>
  stored !== undefined && stored.record.fingerprint !== hash;

function placeOf(step: SampleStep, again: string | undefined, engine: Engine): SamplePlace {
  const { client, scope, hash, parent } = step;
  const { app, tenant, codec } = engine;
  const tool = `sample:${client}`;
  const intent = JSON.stringify(step.step);
  const id = mintId({ app, tenant, scope: scope.id, tool, again, intent });
  const ref = { tenant, id };
  const identity = {
    ...ref,
    tool,
    service: client,
    scope: scope.id,
    fingerprint: hash,
    run: scope.run(),
    again,
    parent,
  };
  const draft = {
    identity,
    argsHash: hash,
    fields: {},
    intent: codec.encodeText(intent, ref),
    aliases: [],
  };
  return { ref, draft };
}

/** Claims and settles in one go: the answer is there. */
async function writeDown(
  { ref, draft }: SamplePlace,
  payload: Payload,
  holder: string,
  engine: Engine,
): Promise<Moved> {
  const { ledger, clock } = engine;
  for (;;) {
    const terms = { holder, leaseMs: LEASE_MS, retry: true, at: ledger.clock.earliest() };
    const claimed = await ledger.move(ref, plainClaim(draft, terms));
    if (claimed.tag === "refused" && claimed.why === "busy") {
      await sleep(clock, BUSY_POLL_MS);
      continue;
    }
    if (claimed.tag !== "moved" || !claimed.stored) return claimed;
    const { epoch, fired } = claimed.stored.record;
    const at = ledger.clock.latest();
    const settled = await ledger.move(
      ref,
      {
        move: "settle",
        epoch,
        holder,
        state: { tag: "committed", via: "reply", attempt: fired, payload },
        updates: [{ n: fired, endedAt: at, verdict: "committed" }],
        // Another answer to the same question is no second effect.
        dedupes: true,
        at,
      },
      claimed.stored,
    );
    // Taken over in between: whoever did has an answer, too.
    if (settled.tag === "refused" && settled.why === "stale") continue;
    return settled;
  }
}

function keptIn(stored: Stored | undefined, engine: Engine): KeptResponse | undefined {
  const state = stored?.record.state;
  if (!stored || state?.tag !== "committed" || !state.payload) return undefined;
  const { tenant, id } = stored.record;
  const decoded = engine.codec.decode(state.payload, { tenant, id });
  return decoded.ok && decoded.form === "response" ? decoded.value : undefined;
}

const about = ({ ref, draft: { identity } }: SamplePlace) => ({
  tool: identity.tool,
  id: ref.id,
  key: wireKey(ref.id, 0),
  tenant: ref.tenant,
  scope: showScope(identity.scope),
});
