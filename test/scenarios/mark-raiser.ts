/**
 * A process that raises the mark of one ledger: every `step`-th sequence from `first` up to `end`.
 *
 * @module
 */

import { fileWitness } from "../../src/ledger/witness/witness-file.ts";

const [folder = "", first, step, end] = process.argv.slice(2);
const witness = fileWitness({ folder });
await witness.read("a");
for (let sequence = Number(first); sequence <= Number(end); sequence += Number(step)) {
  witness.note({ id: "a", sequence, since: 0 });
}
