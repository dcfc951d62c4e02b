/**
 * A witness in files: a folder for each ledger, by the ledger's own id, in which the *name* of an empty
 * file is the mark. Raising a mark is one rename, and whoever lists the folder takes the highest name: so
 * no process can lower the mark of another, whichever comes last, and no mark can be half written. Only `trust`, which is a
 * person's word, lowers a mark.
 *
 * A process that ends leaves its last file behind. The next one to open removes those that are no higher than its own.
 *
 * @module
 */

import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join, sep } from "node:path";
import { peek } from "../../lang/peek.ts";
import { makeFolder, syncIfPermitted } from "../private-folder.ts";
import type { Mark, Witness } from "./witness.ts";

export interface FileWitnessOptions {
  /** The folder; created with mode 0700. Hosts that use one ledger can share it. */
  readonly folder: string;
  /** The place that has one ledger at a time; another ledger in it is a loss. @default "ledger" */
  readonly name?: string | undefined;
  /** @default crypto.randomUUID */
  readonly newId?: (() => string) | undefined;
}

/** The sequence, the time at which the ledger was first seen, and the timeline where the store has one. */
const MARK = /^(\d+)-(\d+)(?:-([\w.]+))?\.mark$/;

export function fileWitness({
  folder,
  name = "ledger",
  newId = () => crypto.randomUUID(),
}: FileWitnessOptions): Witness {
  const place = join(folder, `${encodeURIComponent(name)}.place`);
  /** What `read` found in the folder of ledger `id`. */
  let listed: { readonly id: string; readonly files: readonly string[] } | undefined;
  let placed: string | undefined;
  /** The mark that this process wrote last, and its file. */
  let last: { readonly mark: Mark; readonly file: string } | undefined;
  let doubted: string | undefined;

  /** One ledger is asked about again and again, on every write. */
  let latest: { readonly id: string; readonly folder: string } | undefined;
  function folderOf(id: string): string {
    if (latest?.id !== id)
      latest = { id, folder: join(folder, `${encodeURIComponent(id)}.ledger`) };
    return latest.folder;
  }
  const doubtOf = (id: string): string => join(folderOf(id), "doubt");

  async function readDoubt(id: string): Promise<Mark | undefined> {
    return parseMark(await contentOf(doubtOf(id)));
  }

  async function markOf(id: string): Promise<Mark | undefined> {
    const files = (await namesIn(folderOf(id))).filter((entry) => MARK.test(entry));
    listed = { id, files };
    const doubt = await readDoubt(id);
    const marks = files.map((entry) => markNamed(id, entry));
    return furthest(doubt ? [...marks, doubt] : marks);
  }

  /** Not synced: a power loss also stops the process whose sends the mark is about. */
  function raise(mark: Mark): void {
    const file = folderOf(mark.id) + sep + nameOf(mark);
    const isSameLedger = last?.mark.id === mark.id;
    if (!isSameLedger || !last || !renamed(last.file, file)) {
      makeFolder(folderOf(mark.id));
      closeSync(openSync(file, "a", 0o600));
    }
    last = { mark, file };
  }

  /** Whole or not at all, also after a power loss: it is written under another name first. */
  function writeWhole(file: string, text: string): void {
    const draft = `${file}.${newId()}.new`;
    const handle = openSync(draft, "wx", 0o600);
    try {
      writeSync(handle, text);
      syncIfPermitted(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, file);
  }

  function takePlace(id: string): void {
    if (placed === id) return;
    writeWhole(place, JSON.stringify({ id }));
    placed = id;
  }

  return {
    async read(id) {
      placed = parseId(await contentOf(place));
      const mark = await markOf(placed ?? id);
      if (mark || placed === undefined) return mark;
      // Its marks were deleted, but it was here, and for longer than is known.
      return { id: placed, sequence: 0, since: 0 };
    },

    async doubt(id) {
      // Nearly always there is none. To look takes 3 µs; a read that fails takes 80, in which the claim waits.
      const isThere = statSync(doubtOf(id), { throwIfNoEntry: false }) !== undefined;
      return isThere ? readDoubt(id) : undefined;
    },

    note(mark) {
      const { id, suspect } = mark;
      if (suspect !== undefined) {
        // What it was before stays as it is: the place and the marks are the proof of the loss.
        if (doubted === suspect) return;
        makeFolder(folderOf(id));
        writeWhole(doubtOf(id), JSON.stringify(mark));
        doubted = suspect;
        return;
      }
      const isSameLedger = last?.mark.id === id && last.mark.timeline === mark.timeline;
      if (last && isSameLedger && last.mark.sequence >= mark.sequence) return;
      raise(mark);
      takePlace(id);
      // Only now that this mark is written, which has the earliest time of them.
      if (listed?.id === id) removeLower(folderOf(id), listed.files, mark);
      listed = undefined;
    },

    async trust(mark, by, at) {
      const { id, sequence } = mark;
      const before = parseId(await contentOf(place));
      placed = before;
      raise(mark);
      takePlace(id);
      writeWhole(join(folderOf(id), "trusted"), JSON.stringify({ sequence, by, at }));
      for (const entry of await namesIn(folderOf(id))) {
        if (MARK.test(entry) && entry !== nameOf(mark)) await remove(join(folderOf(id), entry));
      }
      if (before !== undefined) await remove(doubtOf(before));
      await remove(doubtOf(id));
      listed = undefined;
      doubted = undefined;
    },

    close() {},
  };
}

/** The time is rounded down: earlier is the careful side. */
const nameOf = ({ sequence, since, timeline }: Mark): string =>
  `${sequence}-${Math.max(0, Math.floor(since))}${timeline === undefined ? "" : `-${timeline}`}.mark`;

function markNamed(id: string, name: string): Mark {
  const [, sequence, since, timeline] = MARK.exec(name) ?? [];
  return { id, sequence: Number(sequence), since: Number(since), timeline };
}

/** False if another process has removed the file, or a person the folder. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Removes the marks that add nothing to `mark`. A process whose file is removed writes a new one with its next mark. */
function removeLower(folder: string, files: readonly string[], mark: Mark): void {
  for (const name of files) {
    const { sequence, since } = markNamed(mark.id, name);
    const isSaid = sequence <= mark.sequence && since >= Math.floor(mark.since);
    if (isSaid && name !== nameOf(mark)) rmSync(join(folder, name), { force: true });
  }
}

const remove = (path: string): Promise<void> => rm(path, { force: true });

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
}

async function contentOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    if (isAbsent(error)) return "";
    throw error;
  });
}

const isAbsent = (error: unknown): boolean => peek(error, "code") === "ENOENT";

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function parseId(text: string): string | undefined {
  const { id } = parsed(text);
  return typeof id === "string" ? id : undefined;
}

function parseMark(text: string): Mark | undefined {
  const { id, sequence, since, suspect } = parsed(text);
  const isWhole =
    typeof id === "string" &&
    typeof sequence === "number" &&
    typeof since === "number" &&
    typeof suspect === "string";
  return isWhole ? { id, sequence, since, suspect } : undefined;
}

/** The highest sequence, with the earliest time of all. */
function furthest(marks: readonly Mark[]): Mark | undefined {
  const [first, ...others] = marks;
  if (!first) return undefined;
  return others.reduce((best, mark) => {
    const further = best.sequence >= mark.sequence ? best : mark;
    const suspect = best.suspect ?? mark.suspect;
    const since = Math.min(best.since, mark.since);
    return suspect === undefined ? { ...further, since } : { ...further, since, suspect };
  }, first);
}
