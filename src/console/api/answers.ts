/**
 * Takes a person's answer and gives it to the ledger, under the name that `authorize` told. What the ledger refuses is
 * told as it is: another answer came first, the question has changed, has expired.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { InvalidInputError, isHoldfireError } from "../../errors.ts";
import { json, problem } from "../responses.ts";
import { detailOf } from "./detail.ts";

export interface Answering {
  readonly id: string;
  /** The last part of the path: `approve`, `deny`, `resolve`, `look`. */
  readonly action: string;
  readonly by: string;
  readonly request: Request;
}

const MOST_BYTES = 16_384;

export async function answer(hf: Holdfire, given: Answering): Promise<Response> {
  const { id, action } = given;
  const give = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (!give) return problem(404, "There is no such answer.");
  const body = await bodyOf(given.request);
  if (!body) return problem(400, `An answer is a JSON object of at most ${MOST_BYTES} bytes.`);
  if (!(await hf.operations.get(id))) return problem(404, "There is no such operation.");
  try {
    await give(hf, given, body);
  } catch (error) {
    if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_INVALID_INPUT") throw error;
    return problem(409, error.message, "Look at it as it is now.");
  }
  return json(await detailOf(hf, id));
}

type Body = Readonly<Record<string, unknown>>;
type Give = (hf: Holdfire, given: Answering, body: Body) => Promise<unknown>;

const ACTIONS: Readonly<Record<string, Give>> = {
  approve: (hf, { id, by }, body) =>
    hf.approvals.approve(id, { digest: text(body, "digest"), by, note: noteIn(body) }),
  deny: (hf, { id, by }, body) =>
    hf.approvals.deny(id, { digest: text(body, "digest"), by, note: noteIn(body) }),
  resolve: (hf, { id, by }, body) => {
    const { as, asOf, anyway } = body;
    if (as !== "committed" && as !== "not_applied") {
      throw new InvalidInputError("as", 'must be "committed" or "not_applied".');
    }
    // The person's word counts for what they saw, so it must say what that was.
    if (typeof asOf !== "number") throw new InvalidInputError("asOf", "must be a number.");
    const note = noteIn(body);
    return hf.operations.resolve(id, { as, by, note, asOf, anyway: anyway === true });
  },
  look: (hf, { id }) => hf.reconcile({ ids: [id] }),
};

function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidInputError(name, "must be a text.");
}

function noteIn({ note }: Body): string | undefined {
  if (note === undefined || note === "") return undefined;
  if (typeof note !== "string") throw new InvalidInputError("note", "must be a text.");
  return note;
}

/** `undefined` if it is no JSON object, or too long. No more than that is read. */
async function bodyOf({ body }: Request): Promise<Body | undefined> {
  if (!body) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Body)
      : undefined;
  } catch {
    return undefined;
  }
}
