/**
 * Tells how far a bench is, on standard error: on a terminal one line that changes, elsewhere a line
 * for each part that is done.
 *
 * @module
 */

export type Report = (text: string, isPartDone: boolean) => void;

export const report: Report = (text, isPartDone) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (isPartDone) process.stderr.write(`${text}\n`);
};
