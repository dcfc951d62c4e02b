/**
 * Calls that run as tasks. Such a call is answered with a handle, which is what it has made: the effect id of its
 * operation. What has become of the task the server says itself, by `tasks/get`.
 *
 * @module
 */

import { systemClock, withTimeLimit } from "../lang/clock.ts";
import { peek } from "../lang/peek.ts";
import type { Fields } from "./pipe/message.ts";
import type { OwnRequests } from "./pipe/own-requests.ts";

/** `unclear`: the server does not say, or has forgotten it. */
export type TaskState = "working" | "completed" | "failed" | "unclear";

/** What has become of the task with this effect id; `undefined` if it is none. */
export type ReadTask = (effectId: string | undefined) => Promise<TaskState | undefined>;

const PREFIX = "task ";
const READ_MS = 5_000;

/** The effect id of a call that was answered with a handle. */
export function effectOfTask(result: unknown): string | undefined {
  const id = peek(peek(result, "task"), "taskId") ?? peek(result, "taskId");
  return typeof id === "string" ? PREFIX + id : undefined;
}

export const isTask = (effectId: string | undefined): boolean =>
  effectId?.startsWith(PREFIX) === true;

/** `envelope`: what every request of the host carries in its `_meta`. */
export function taskReader(toServer: OwnRequests, envelope: () => Fields): ReadTask {
  return async (effectId) => {
    if (effectId === undefined || !isTask(effectId)) return undefined;
    const taskId = effectId.slice(PREFIX.length);
    const asked = toServer.ask("tasks/get", { taskId, _meta: envelope() });
    const answered = await withTimeLimit(systemClock, READ_MS, asked);
    const { result } = answered.tag === "done" ? answered.value : { result: undefined };
    return stateIn(peek(result, "status") ?? peek(peek(result, "task"), "status"));
  };
}

function stateIn(status: unknown): TaskState {
  if (status === "working" || status === "input_required") return "working";
  if (status === "completed") return "completed";
  return status === "failed" || status === "cancelled" ? "failed" : "unclear";
}

/** What an earlier call has come to, in words for the model; `undefined` is one that was no task. */
export const WORDS_FOR_TASK: Readonly<Record<TaskState | "none", string>> = {
  none: "Already done",
  completed: "Already done",
  working: "Already begun, as a task that is still working,",
  failed: "Begun, as a task that has failed or was cancelled, and may have done a part of it,",
  unclear: "Already begun, as a task of which the server says nothing any more,",
};
