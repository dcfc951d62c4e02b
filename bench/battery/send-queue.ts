/**
 * One queue for all requests of a process, as a client with a limit of one at a time has it: whoever comes first starts
 * the loop, and the loop sends the requests of the others too, in the async context of the first.
 *
 * @module
 */

const waiting: (() => Promise<void>)[] = [];
let isRunning = false;

export function sendInTurn<T>(send: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => send().then(resolve, reject));
    if (!isRunning) void sendAll();
  });
}

async function sendAll(): Promise<void> {
  isRunning = true;
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  isRunning = false;
}
