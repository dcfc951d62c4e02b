/**
 * A witness in files: one small file per process, rewritten in place, in a folder beside the ledger.
 * The highest mark of all of them counts, so no process can lower that of another. A doubt is also
 * written to one shared file, so that other processes need not read all marks to learn of it.
 *
 * @module
 */

import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Mark, Witness } from "./witness.ts";

export interface FileWitnessOptions {
  /** The folder; created with mode 0700. */
  readonly folder: string;
  /** Names the store, where several stores share a folder. @default "ledger" */
  readonly name?: string | undefined;
  /** @default crypto.randomUUID */
  readonly newId?: (() => string) | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined;
}

interface Line extends Mark {
  readonly by?: string | undefined;
  readonly at?: number | undefined;
}

/** Each line is padded to this length, so that a shorter one overwrites a longer one completely. */
const LINE_BYTES = 512;
const MAX_FILES_READ = 1_000;
/** The file of a process that has written nothing for this long is merged into a newer one. */
const STALE_MS = 7 * 24 * 3_600_000;

export function fileWitness({
  folder,
  name = "ledger",
  newId = () => crypto.randomUUID(),
  now = Date.now,
}: FileWitnessOptions): Witness {
  const prefix = `${encodeURIComponent(name)}.`;
  const own = `${prefix}${newId()}.mark`;
  const shared = join(folder, `${prefix}doubt`);
  let stale: string[] = [];
  let file: number | undefined;
  let last: Mark | undefined;

  function write(line: Line): void {
    if (file === undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      file = openSync(join(folder, own), "wx", 0o600);
      ftruncateSync(file, LINE_BYTES);
    }
    // Not synced: a power loss also stops the process whose sends the mark is about.
    writeSync(
      file,
      JSON.stringify(line)
        .padEnd(LINE_BYTES - 1)
        .concat("\n"),
      0,
    );
    last = line;
  }

  async function others(): Promise<string[]> {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    const marks = names.filter((entry) => entry.startsWith(prefix) && entry.endsWith(".mark"));
    return marks.filter((entry) => entry !== own).slice(0, MAX_FILES_READ);
  }

  return {
    async read() {
      const seen: Mark[] = last ? [last] : [];
      for (const entry of await others()) {
        const path = join(folder, entry);
        const mark = parse(await readFile(path, "utf8").catch(() => ""));
        if (mark) seen.push(mark);
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now() }));
        if (now() - mtimeMs > STALE_MS) stale.push(path);
      }
      return furthest(seen);
    },
    doubt: async () => parse(await readFile(shared, "utf8").catch(() => "")),
    note(mark) {
      const isNews = mark.suspect !== last?.suspect;
      if (!isNews && last?.id === mark.id && last.sequence >= mark.sequence) return;
      write(mark);
      if (isNews && mark.suspect !== undefined) {
        writeFileSync(shared, JSON.stringify(mark), { mode: 0o600 });
      }
      // The store has been found at least as far as every mark read, so the old files can go.
      for (const path of stale) rmSync(path, { force: true });
      stale = [];
    },
    async trust({ id, sequence, since }, by, at) {
      write({ id, sequence, since, by, at });
      for (const entry of await others()) await rm(join(folder, entry), { force: true });
      await rm(shared, { force: true });
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function parse(text: string): Mark | undefined {
  try {
    const { id, sequence, since, suspect } = JSON.parse(text) as Partial<Mark>;
    const whole = typeof id === "string" && Number.isFinite(sequence) && Number.isFinite(since);
    return whole ? ({ id, sequence, since, ...(suspect && { suspect }) } as Mark) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The highest mark. Of marks of two ledgers, the one with the higher sequence belongs to the ledger
 * that was lost. `since` is the earliest of all.
 */
function furthest(marks: readonly Mark[]): Mark | undefined {
  const [first, ...others] = marks;
  if (!first) return undefined;
  return others.reduce((best, mark) => {
    const { id, sequence } = best.sequence >= mark.sequence ? best : mark;
    const suspect = best.suspect ?? mark.suspect;
    const since = Math.min(best.since, mark.since);
    return suspect === undefined ? { id, sequence, since } : { id, sequence, since, suspect };
  }, first);
}
