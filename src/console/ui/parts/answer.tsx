/**
 * Answers of a person: a button each, which first says what the answer will cause, and then asks to confirm it; and what
 * became of an answer. The view tells that, because the card that was answered may be gone by then: another person's answer
 * to the same operation takes the card away while this one is still on its way.
 *
 * @module
 */

import { useState } from "preact/hooks";
import type { AnswerName, OperationDetail, Problem } from "../../model.ts";
import { post } from "../api.ts";
import { named } from "../words.ts";
import { Failed } from "./states.tsx";

export interface AnswerChoice {
  readonly name: AnswerName;
  readonly label: string;
  readonly confirm: string;
  readonly tone: "good" | "bad" | "plain";
  /** The last part of the path, and what is sent. */
  readonly path: string;
  readonly body: object;
  readonly takesNote: boolean;
  /** Must be ticked before it can be given; sent as `anyway`. */
  readonly warning?: string | undefined;
}

interface Given {
  readonly id: string;
  readonly choices: readonly AnswerChoice[];
  readonly consequences: Readonly<Record<AnswerName, string>>;
  readonly person: string;
  readonly onAnswered: OnAnswered;
}

export function Answers({ id, choices, consequences, person, onAnswered }: Given) {
  const [chosen, choose] = useState<AnswerChoice>();
  return (
    <div class="answers">
      <div class="buttons">
        {choices.map((choice) => (
          <button
            key={choice.name}
            type="button"
            class={choice.tone}
            aria-expanded={chosen?.name === choice.name}
            onClick={() => choose(chosen?.name === choice.name ? undefined : choice)}
          >
            {choice.label}
          </button>
        ))}
      </div>
      {chosen && (
        <Confirm
          key={chosen.name}
          {...{ id, person, onAnswered }}
          choice={chosen}
          causes={consequences[chosen.name]}
          onLeave={() => choose(undefined)}
        />
      )}
    </div>
  );
}

interface Confirming {
  readonly id: string;
  readonly choice: AnswerChoice;
  readonly causes: string;
  readonly person: string;
  readonly onAnswered: OnAnswered;
  readonly onLeave: () => void;
}

function Confirm({ id, choice, causes, person, onAnswered, onLeave }: Confirming) {
  const [note, setNote] = useState("");
  const [anyway, setAnyway] = useState(false);
  const [isSending, setSending] = useState(false);

  async function give(event: Event): Promise<void> {
    event.preventDefault();
    setSending(true);
    const body = { ...choice.body, note, ...(choice.warning && { anyway }) };
    const path = `api/operations/${encodeURIComponent(id)}/${choice.path}`;
    const answered = await post<OperationDetail>(path, body);
    setSending(false);
    if (!answered.ok) return onAnswered({ tag: "refused", problem: answered.problem });
    const { tool, status, reason } = answered.value.operation;
    const now = `${named(status)}${reason ? ` (${named(reason)})` : ""}`;
    const text = `${tool}: ${choice.label.toLowerCase()}, recorded. It is ${now} now.`;
    onAnswered({ tag: "recorded", text });
  }

  return (
    <form class="confirm" onSubmit={(event) => void give(event)}>
      <p>
        <strong>What this causes.</strong> {causes}
      </p>
      {choice.warning && (
        <label class="tick">
          <input
            type="checkbox"
            checked={anyway}
            onChange={(event) => setAnyway(event.currentTarget.checked)}
          />
          {choice.warning}
        </label>
      )}
      {choice.takesNote && (
        <label class="field">
          Reason, kept with the answer
          <input
            type="text"
            maxLength={2_000}
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="buttons">
        <button
          type="submit"
          class={`${choice.tone} strong`}
          disabled={isSending || (choice.warning !== undefined && !anyway)}
        >
          {choice.confirm} as {person}
        </button>
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
      </div>
    </form>
  );
}

export type Told =
  | { readonly tag: "recorded"; readonly text: string }
  | { readonly tag: "refused"; readonly problem: Problem };

/** Whom a card tells what became of its answer. */
export type OnAnswered = (told: Told) => void;

/** What was told last, and whom to tell; what the view shows is loaded again. */
export function useTold(again: () => Promise<void>): readonly [Told | undefined, OnAnswered] {
  const [told, tell] = useState<Told>();
  return [
    told,
    (now) => {
      tell(now);
      void again();
    },
  ];
}

export const ShowTold = ({ told }: { readonly told: Told | undefined }) => (
  <div role="status" class="told">
    {told?.tag === "recorded" && <p class="notice good">{told.text}</p>}
    {told?.tag === "refused" && <Failed problem={told.problem} />}
  </div>
);
