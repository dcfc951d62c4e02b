/**
 * What became of an answer. The view tells it, because the card that was answered may be gone by then: another
 * person's answer to the same operation takes the card away while this one is still on its way.
 *
 * @module
 */

import { useState } from "preact/hooks";
import type { Problem } from "../../model.ts";
import { Failed } from "./states.tsx";

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
