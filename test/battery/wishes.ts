/** What a caller can wish for, and what befalls it on the way. */

import fc, { type Arbitrary } from "fast-check";
import {
  FATES,
  type Fate,
  READ_FATES,
  type ReadFate,
  STORE_FATES,
  type StoreFate,
} from "./world/fates.ts";
import { MANNERS, type Manner } from "./world/manners.ts";
import { TIMES, type ToolClass } from "./world/settings.ts";
import type { CallSpec } from "./world/world.ts";

/** The two tools of a sequence; few, so that calls meet. */
export const casts: Arbitrary<readonly ToolClass[]> = fc.tuple(
  fc.oneof(
    fc.constantFrom<ToolClass>(
      "K",
      "K",
      "R",
      "R",
      "R",
      "KR",
      "KR",
      "C",
      "CR",
      "N",
      "RU",
      "L",
      "KU",
    ),
    fc.constantFrom<ToolClass>("HN", "HK", "HR", "HR", "AN", "AK", "AR", "AR"),
  ),
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom<ToolClass>("N", "R", "K", "X", "RB", "KB", "KB", "KU", "L"),
    },
    { weight: 1, arbitrary: fc.constantFrom<ToolClass>("HN", "HK", "HR", "AN", "AK", "AR") },
  ),
);

/** A call of one of the sequence's two tools. */
export type Wish = Omit<CallSpec, "tool"> & { readonly tool: number };

const often = <T>(usual: Arbitrary<T>, seldom: Arbitrary<T>, weight = 4): Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: seldom });

const seldom = <T>(arbitrary: Arbitrary<T>, weight = 7): Arbitrary<T | undefined> =>
  often<T | undefined>(fc.constant(undefined), arbitrary, weight);

const fates: Arbitrary<Fate[]> = often(
  fc.array(fc.constantFrom(...FATES), { maxLength: 3, size: "max" }),
  // One after the other, until attempts or the retry budget run out.
  fc.constantFrom<Fate>("error-before", "lost-request", "busy").map((fate) => Array(14).fill(fate)),
  12,
);

export const storeFates: Arbitrary<StoreFate> = often(
  fc.constant("ok"),
  fc.constantFrom(...STORE_FATES),
  1,
);

const stores: Arbitrary<StoreFate[]> = often(
  fc.constant([]),
  fc.array(storeFates, { maxLength: 8, size: "max" }),
  3,
);

const reads: Arbitrary<ReadFate[]> = often(
  fc.constant([]),
  fc.array(fc.constantFrom(...READ_FATES), { maxLength: 4, size: "max" }),
);

export const wishes: Arbitrary<Wish> = fc.record({
  tool: fc.constantFrom(0, 0, 1),
  scope: fc.constantFrom("s1", "s1", "s1", "s2"),
  what: fc.constantFrom("a", "a", "b"),
  again: seldom(fc.constant("x")),
  key: seldom(fc.constant("k1"), 8),
  retry: fc.constantFrom(false, false, true),
  note: fc.constantFrom("n1", "n1", "n1", "n1", "n1", "n2"),
  deadlineMs: fc.constantFrom(TIMES.deadline, TIMES.deadline, 4_000, 900),
  abortAfter: seldom(fc.constantFrom(0, 10, 45, 90, 1_000)),
  fates,
  reads,
  store: stores,
  heeds: fc.boolean(),
  step: seldom(fc.constantFrom("m1", "m2"), 1),
  manner: often<Manner>(fc.constant("plain"), fc.constantFrom(...MANNERS), 1),
});
