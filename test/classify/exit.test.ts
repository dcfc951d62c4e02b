import { expect, test } from "vitest";
import { verdictOfExit } from "../../src/classify/exit.ts";

const exited = (code: number) => ({ tag: "exited", code }) as const;

test("0 is committed; every other code proves nothing", () => {
  expect(verdictOfExit(exited(0))).toBe("committed");
  for (const code of [1, 2, 64, 75, 126, 127, 130, 137, 255]) {
    expect(verdictOfExit(exited(code)), String(code)).toBe("unknown");
  }
});

test("a declared code means what was declared, 0 included", () => {
  const declared = { 0: "unknown", 3: "rejected", 75: "refused", 10: "committed" } as const;
  expect(verdictOfExit(exited(0), declared)).toBe("unknown");
  expect(verdictOfExit(exited(3), declared)).toBe("rejected");
  expect(verdictOfExit(exited(75), declared)).toBe("refused");
  expect(verdictOfExit(exited(10), declared)).toBe("committed");
  expect(verdictOfExit(exited(4), declared)).toBe("unknown");
});

test("what was killed may have done it, whatever was declared", () => {
  expect(verdictOfExit({ tag: "killed", signal: "SIGTERM" }, { 143: "rejected" })).toBe("unknown");
});

test("what was never started did nothing", () => {
  expect(verdictOfExit({ tag: "not_started", code: "ENOENT" })).toBe("not_sent");
  expect(verdictOfExit({ tag: "not_started", code: undefined })).toBe("not_sent");
});
