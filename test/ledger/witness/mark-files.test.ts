/** The files of a witness: which are written, renamed and removed, and which are believed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Mark } from "../../../src/ledger/witness/witness.ts";
import { fileWitness } from "../../../src/ledger/witness/witness-file.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";

const newFolder = temporaryFolder();
let folder: string;

beforeEach(() => {
  folder = join(newFolder(), "witness");
});

const mark = (sequence: number, more: Partial<Mark> = {}): Mark => ({
  id: "a",
  sequence,
  since: 3,
  ...more,
});
const filesOf = (id: string) => readdirSync(join(folder, `${id}.ledger`)).sort();
const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
/** What the next process finds. */
const found = (id = "a") => fileWitness({ folder }).read(id);

describe("the mark of a process", () => {
  test("is one file, renamed as it rises", () => {
    const witness = fileWitness({ folder });
    for (const sequence of [1, 2, 9]) witness.note(mark(sequence));
    expect(filesOf("a")).toEqual(["9-3.mark"]);
  });

  test("of one ledger stays where it is when the process goes on with another", async () => {
    fileWitness({ folder }).note(mark(1, { id: "b" }));
    const witness = fileWitness({ folder });
    witness.note(mark(5));
    witness.note(mark(3, { id: "b" }));
    expect(filesOf("a")).toEqual(["5-3.mark"]);
    expect(filesOf("b")).toEqual(["1-3.mark", "3-3.mark"]);
    expect(await found("b")).toMatchObject({ id: "b", sequence: 3 });
  });

  test("names the timeline it was seen on, also when that changes alone", async () => {
    const witness = fileWitness({ folder });
    witness.note(mark(5, { timeline: "t1" }));
    expect(await found()).toEqual(mark(5, { timeline: "t1" }));
    witness.note(mark(5, { timeline: "t2.b" }));
    expect(filesOf("a")).toEqual(["5-3-t2.b.mark"]);
    expect(await found()).toEqual(mark(5, { timeline: "t2.b" }));
  });

  test("takes the place once, and tells a doubt once", () => {
    let written = 0;
    const newId = () => {
      written += 1;
      return `${written}`;
    };
    const witness = fileWitness({ folder, newId });
    for (const sequence of [1, 2, 3]) witness.note(mark(sequence));
    expect(written).toBe(1);
    for (const suspect of ["older", "older", "another"]) witness.note(mark(3, { suspect }));
    expect(written).toBe(3);
  });
});

describe("the marks of processes that have ended", () => {
  /** A process that ends leaves `left`; the next one finds it, and notes `next`. */
  async function after(left: Mark, next: Mark, meanwhile = () => {}) {
    fileWitness({ folder }).note(left);
    const witness = fileWitness({ folder });
    await witness.read("a");
    meanwhile();
    witness.note(next);
    return filesOf("a");
  }

  test.each([
    ["a lower one", mark(50), mark(51), ["51-3.mark"]],
    ["one as high that was seen later", mark(50, { since: 9 }), mark(50), ["50-3.mark"]],
  ])("are removed by the next: %s", async (_, left, next, files) => {
    expect(await after(left, next)).toEqual(files);
  });

  test.each([
    ["a higher one", mark(50), mark(45), ["45-3.mark", "50-3.mark"]],
    ["one that was seen earlier", mark(50), mark(51, { since: 9 }), ["50-3.mark", "51-9.mark"]],
    ["the very same", mark(50), mark(50), ["50-3.mark"]],
  ])("stay if they say more: %s", async (_, left, next, files) => {
    expect(await after(left, next)).toEqual(files);
  });

  test("may have been removed by another meanwhile", async () => {
    const remove = () => rmSync(join(folder, "a.ledger", "50-3.mark"));
    expect(await after(mark(50), mark(51), remove)).toEqual(["51-3.mark"]);
  });

  test("are removed once: those that come later belong to processes that run", async () => {
    const witness = fileWitness({ folder });
    await witness.read("a");
    witness.note(mark(1));
    fileWitness({ folder }).note(mark(2));
    witness.note(mark(3));
    expect(filesOf("a")).toEqual(["2-3.mark", "3-3.mark"]);
  });
});

describe("a doubt", () => {
  test("is found with the furthest mark, by whoever opens next", async () => {
    const witness = fileWitness({ folder });
    witness.note(mark(5));
    fileWitness({ folder }).note(mark(9, { since: 8 }));
    witness.note(mark(5, { suspect: "it is older" }));
    expect(await found()).toEqual(mark(9, { suspect: "it is older" }));
    fileWitness({ folder }).note(mark(20, { suspect: "older still" }));
    expect(await found()).toMatchObject({ sequence: 20, suspect: "older still" });
  });

  test.each(["id", "sequence", "since", "suspect"])("without its %s is none", async (field) => {
    fileWitness({ folder }).note(mark(5));
    const whole = { ...mark(5), suspect: "it is older" };
    put("a.ledger/doubt", JSON.stringify(whole));
    expect(await fileWitness({ folder }).doubt("a")).toEqual(whole);
    put("a.ledger/doubt", JSON.stringify({ ...whole, [field]: null }));
    expect(await fileWitness({ folder }).doubt("a")).toBeUndefined();
  });

  test("about the ledger that was in this place ends when a person trusts the new one", async () => {
    const witness = fileWitness({ folder });
    witness.note(mark(5));
    witness.note(mark(5, { suspect: "it is older" }));
    await witness.trust(mark(1, { id: "b" }), "ana", 77);
    expect(await witness.doubt("a")).toBeUndefined();
    const trusted = readFileSync(join(folder, "b.ledger", "trusted"), "utf8");
    expect(JSON.parse(trusted)).toEqual({ sequence: 1, by: "ana", at: 77 });
    witness.note(mark(5, { id: "b", suspect: "it is older" }));
    expect(await witness.doubt("b")).toMatchObject({ suspect: "it is older" });
  });
});

describe("what is no mark", () => {
  test("is not taken for one", async () => {
    fileWitness({ folder }).note(mark(5));
    for (const name of ["x99-0.mark", "99-0.mark.1.new", "99-0-a b.mark"]) {
      put(join("a.ledger", name), "");
    }
    expect(await found()).toEqual(mark(5));
  });

  test("is a place without the id of a ledger", async () => {
    fileWitness({ folder }).note(mark(5));
    for (const text of ['{"id":5}', "null", "5"]) {
      put("ledger.place", text);
      expect(await found()).toEqual(mark(5));
      expect(await found("b")).toBeUndefined();
    }
  });

  test("is told where it cannot be read at all, and is not taken for absent", async () => {
    mkdirSync(join(folder, "ledger.place"), { recursive: true });
    await expect(found()).rejects.toThrow(/EISDIR/);
    rmSync(join(folder, "ledger.place"), { recursive: true });
    put("a.ledger", "");
    await expect(found()).rejects.toThrow(/ENOTDIR/);
    expect(existsSync(join(folder, "a.ledger"))).toBe(true);
  });
});
