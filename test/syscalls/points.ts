/**
 * Where a call can be struck: the system calls that leave something behind, as read off a trace.
 *
 * @module
 */

/** All that write, sync, name, connect or send. */
export const SWEPT_CALLS = [
  "openat",
  "mkdir",
  "write",
  "pwrite64",
  "writev",
  "pwritev",
  "fsync",
  "fdatasync",
  "ftruncate",
  "rename",
  "unlink",
  "connect",
  "sendto",
  "sendmsg",
] as const;

/** The n-th call of its name since the trace began. */
export interface Point {
  readonly call: string;
  readonly nth: number;
  readonly target: Target;
}

/** What the call is made on. */
export type Target =
  | "ledger"
  | "log"
  | "index"
  | "journal"
  | "folder"
  | "witness"
  | "service"
  | "caller"
  | "other";

const LINE = /^(?:(\d+) +)?(\w+)\((.*)$/;
const ENDS = "+++ killed by SIGKILL +++";

/** Every point of the main thread, in order. */
export function pointsIn(trace: string, main: number): readonly Point[] {
  return numbered(trace.split("\n").filter((line) => line.startsWith(`${main} `)));
}

/** What other threads have left behind: nothing, else a sweep of one thread is not all. */
export function elsewhere(trace: string, main: number): readonly Point[] {
  return numbered(trace.split("\n").filter((line) => !line.startsWith(`${main} `)));
}

/** Of the trace of one name of call: the one that was struck. */
export function lastOf(trace: string, fault: "kill" | "error"): Point | undefined {
  const lines = trace.split("\n");
  const at = fault === "kill" ? lines.indexOf(ENDS) - 1 : lines.findIndex(isInjected);
  const line = lines[at];
  const [, , call] = LINE.exec(line ?? "") ?? [];
  return line && call ? { call, nth: at + 1, target: targetOf(line) } : undefined;
}

/** Of the trace of one name of call: the numbers of those on `target`. */
export function numbersOf(trace: string, target: Target): readonly number[] {
  const lines = trace.split("\n").filter((line) => LINE.test(line));
  return lines.flatMap((line, index) => (targetOf(line) === target ? [index + 1] : []));
}

const isInjected = (line: string): boolean => line.endsWith("(INJECTED)");

function numbered(lines: readonly string[]): readonly Point[] {
  const counts = new Map<string, number>();
  const points: Point[] = [];
  for (const line of lines) {
    const [, , call] = LINE.exec(line) ?? [];
    if (!call) continue;
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    const target = targetOf(line);
    if (isOfTheCall(target) && !isReading(line)) points.push({ call, nth, target });
  }
  return points;
}

/** The message to the test is none of the call's; what is killed before a caller is told, `test/crash` kills (F9). */
const isOfTheCall = (target: Target): boolean => target !== "other" && target !== "caller";

/** An open that makes no file leaves nothing behind. */
const isReading = (line: string): boolean => line.includes("openat(") && !line.includes("O_CREAT");

const TARGETS: readonly (readonly [RegExp, Target])[] = [
  [/connect\(.*AF_INET|<TCP/, "service"],
  [/<UNIX/, "caller"],
  [/\/witness\b/, "witness"],
  [/ledger\.db-wal/, "log"],
  [/ledger\.db-shm/, "index"],
  [/ledger\.db-journal/, "journal"],
  [/ledger\.db/, "ledger"],
  [/holdfire-sweep-/, "folder"],
];

function targetOf(line: string): Target {
  return TARGETS.find(([pattern]) => pattern.test(line))?.[1] ?? "other";
}
