/** What a run must have met to count: fault points, people, licences, and reasons for holding fire. */

import { FATES, READ_FATES, STORE_FATES } from "./world/fates.ts";

export const required: readonly string[] = [
  ...FATES.map((fate) => `fate:${fate}`),
  ...READ_FATES.map((fate) => `read:${fate}`),
  ...STORE_FATES.map((fate) => `store:${fate}`),
];
