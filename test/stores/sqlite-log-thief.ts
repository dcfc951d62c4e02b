/**
 * A process that tries to switch a database's write-ahead log off, which is not allowed while it is open
 * elsewhere.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2] ?? "");
let outcome = "refused";
try {
  const row = db.prepare("PRAGMA journal_mode = DELETE").get();
  if (row?.journal_mode !== "wal") outcome = "taken";
} catch {
  // Locked: as it should be.
}
db.close();
process.send?.(outcome, () => process.disconnect());
