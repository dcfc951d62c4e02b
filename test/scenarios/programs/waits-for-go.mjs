/**
 * A program that takes effect when it is told to: it connects to PORT, and adds a line to FILE for each message.
 *
 *   waits-for-go.mjs PORT FILE [--stubborn]
 *
 * @module
 */

import { appendFileSync } from "node:fs";
import { connect } from "node:net";

const [port, file, flag] = process.argv.slice(2);
if (flag === "--stubborn") process.on("SIGTERM", () => {});
const socket = connect(Number(port), "127.0.0.1");
socket.on("data", () => {
  appendFileSync(file, "effect\n");
  socket.write("done");
});
socket.on("error", () => {});
