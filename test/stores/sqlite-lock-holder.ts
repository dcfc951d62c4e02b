/**
 * A process that takes the write lock of a database and keeps it until it is told to let go.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2] ?? "");
db.exec("BEGIN IMMEDIATE");
process.send?.("locked");
process.once("message", () => {
  db.exec("COMMIT");
  db.close();
  process.disconnect();
});
