/**
 * Folders that are gone after the test file. Real ones: a store is tested on a disk.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Returns the function that makes another one. */
export function temporaryFolder(): () => string {
  const root = mkdtempSync(join(tmpdir(), "holdfire-test-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => mkdtempSync(join(root, "folder-"));
}
