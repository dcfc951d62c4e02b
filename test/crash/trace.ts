/**
 * Runs a script under strace, and reads off the trace whether each request left after its claim was on
 * disk.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

const TRACED = "pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync";
/** A page of the log, and the longest request of these calls. */
const BYTES_SHOWN = 4_200;
const LARGEST_OUTPUT = 64 * 2 ** 20;

/** Whether processes can be traced here; says so if not. */
export async function canTrace(): Promise<boolean> {
  const traced = await run("strace", ["-o", "/dev/null", "true"]).catch(() => undefined);
  if (traced) return true;
  if (process.env.HOLDFIRE_REQUIRE_SERVERS === "1") throw new Error("No strace in the PATH.");
  process.stdout.write("skipped: no strace in PATH, or it may not trace\n");
  return false;
}

/** What the script printed. */
export async function traced(file: string, script: readonly string[]): Promise<string> {
  const what = ["-f", "-y", "-s", String(BYTES_SHOWN), "-e", `trace=${TRACED}`, "-o", file];
  const { stdout } = await run("strace", [...what, process.execPath, ...script], {
    maxBuffer: LARGEST_OUTPUT,
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  return stdout;
}

/** One call: how its claim is found in the log, and its request on the wire. */
export interface TracedCall {
  readonly id: string;
  readonly key: string;
}

/** How far a call has come in the trace. */
interface Course {
  /** The line at which the claim was in the log. */
  written?: number;
  /** The line at which a sync that began after that had ended. */
  synced?: number;
  /** The line at which the request began to leave. */
  sent?: number;
}

/** The calls whose request left, as it must, after a sync of the log that holds their claim. */
export async function provenCalls(
  file: string,
  calls: readonly TracedCall[],
): Promise<readonly TracedCall[]> {
  const courses = new Map<TracedCall, Course>(calls.map((call) => [call, {}]));
  const byId = new Map(calls.map((call) => [call.id, call]));
  const byKey = new Map(calls.map((call) => [call.key, call]));
  /** Per thread, the sync that has begun, or the write that has. */
  const begun = new Map<string, { readonly line: number; readonly text: string }>();
  let unsynced: Course[] = [];
  let line = 0;

  for await (const text of createInterface({ input: createReadStream(file) })) {
    line += 1;
    const thread = text.slice(0, text.indexOf(" "));
    const isResumed = text.includes(" resumed>");
    const start = isResumed ? begun.get(thread) : { line, text };
    if (!start) continue;
    if (text.endsWith("<unfinished ...>")) {
      begun.set(thread, start);
      // Bytes may leave from the moment the call begins.
      noteSends(start.text, line);
      continue;
    }
    begun.delete(thread);
    if (isSocketWrite(start.text)) noteSends(start.text, start.line);
    else if (isLogWrite(start.text)) noteClaims(start.text, line);
    else if (isLogSync(start.text) && text.endsWith("= 0")) noteSync(start.line, line);
  }
  return calls.filter((call) => {
    const { synced, sent } = courses.get(call) ?? {};
    return synced !== undefined && sent !== undefined && synced < sent;
  });

  function noteSends(text: string, at: number): void {
    if (!isSocketWrite(text)) return;
    for (const [key] of text.matchAll(KEY)) {
      const course = courseOf(byKey.get(key));
      if (course) course.sent ??= at;
    }
  }

  function noteClaims(text: string, at: number): void {
    for (const id of idsIn(text)) {
      const course = courseOf(byId.get(id));
      if (!course || course.written !== undefined) continue;
      course.written = at;
      unsynced.push(course);
    }
  }

  function noteSync(from: number, to: number): void {
    for (const course of unsynced) if ((course.written ?? to) < from) course.synced = to;
    unsynced = unsynced.filter(({ synced }) => synced === undefined);
  }

  function courseOf(call: TracedCall | undefined): Course | undefined {
    return call && courses.get(call);
  }
}

const isSocketWrite = (text: string): boolean =>
  /^\d+ +(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP)/.test(text);
const isLogWrite = (text: string): boolean => /^\d+ +pwrite64\(\d+<[^>]*-wal>/.test(text);
const isLogSync = (text: string): boolean => /^\d+ +f(?:data)?sync\(\d+<[^>]*-wal>/.test(text);

const ID_LENGTH = 43;
const LONG_WORD = /[\w-]{43,}/g;

/** All that may be an id: what stands before one in the page can look like a part of it. */
function* idsIn(text: string): Generator<string> {
  for (const [word] of text.matchAll(LONG_WORD)) {
    for (let start = 0; start + ID_LENGTH <= word.length; start += 1) {
      yield word.slice(start, start + ID_LENGTH);
    }
  }
}

const KEY = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
