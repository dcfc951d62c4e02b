/** A known-bad variant: what is edited, and the tests that must fail for it. */

export interface Edit {
  /** From the root of the package. */
  readonly file: string;
  /** Must stand there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The tests of the catchers that must fail. */
  readonly caughtBy: readonly string[];
}
