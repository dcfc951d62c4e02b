/**
 * One part of the suite: measures one or more groups and hands back their figures.
 *
 * @module
 */

import type { Report } from "../progress.ts";
import type { Figures } from "./figures.ts";
import type { SuiteOptions } from "./options.ts";

export interface Part {
  /** The groups that it measures. */
  readonly groups: readonly string[];
  measure(wanted: readonly string[], options: SuiteOptions, report: Report): Promise<Figures>;
}
