/**
 * A thread that waits for its sign, and then kills the process it is in.
 *
 * @module
 */

import { parentPort, workerData } from "node:worker_threads";

const { flag, afterMs } = workerData as { readonly flag: Int32Array; readonly afterMs: number };
parentPort?.postMessage("ready");
Atomics.wait(flag, 0, 0);
Atomics.wait(flag, 0, 1, afterMs);
process.kill(process.pid, "SIGKILL");
