/**
 * What waits for a person: questions, and operations that are unknown, the oldest first.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { Inbox } from "../model.ts";
import { consequences, questionOf, unknownOf } from "./questions.ts";

/** More than a person answers at a sitting; the rest follows as these are answered. */
const MOST = 50;

export async function inboxOf(hf: Holdfire): Promise<Inbox> {
  const asked = await hf.approvals.list({ limit: MOST });
  const unknown = await hf.operations.list({ status: ["unknown"], limit: MOST });
  const waiting = asked.items.filter(({ answered }) => !answered);
  const questions = await Promise.all(waiting.map((approval) => questionOf(hf, approval)));
  // Read one by one: a list has no intents.
  const found = await Promise.all(unknown.items.map(({ id }) => hf.operations.get(id)));
  const unsettled = found.flatMap((one) => (one?.status === "unknown" ? [one] : []));
  const unknowns = await Promise.all(unsettled.map((operation) => unknownOf(hf, operation)));
  const more = asked.cursor !== undefined || unknown.cursor !== undefined;
  return { questions, unknowns, more, consequences };
}
