import { expect, test } from "vitest";
import { type CalledBy, createCalledBy } from "../../src/engine/called-by.ts";
import { standsFor } from "../../src/engine/define/source.ts";
import type { Tool } from "../../src/engine/define/tool.ts";

const mail = async () => "mail";
const sms = async () => "sms";

const toolOf = (name: string, run: () => unknown, service = name): Tool =>
  ({ name, service, run }) as unknown as Tool;

const refOf = (id: string) => ({ tenant: "default", id });

/** As a call does: it asks, and becomes the first caller if there is none. */
function call(calledBy: CalledBy, id: string, tool: Tool): boolean {
  const isOther = calledBy.isOther(refOf(id), tool);
  if (!isOther) calledBy.note(refOf(id), tool);
  return isOther;
}

test("an operation belongs to the tool that called it first, however late the other tool comes", () => {
  const calledBy = createCalledBy();
  const [first, second] = [toolOf("notify", mail), toolOf("notify", sms)];
  for (const id of ["a", "b"]) expect(call(calledBy, id, first)).toBe(false);
  expect(call(calledBy, "a", second)).toBe(true);
  expect(call(calledBy, "c", second)).toBe(false);
  expect(call(calledBy, "c", first)).toBe(true);
  expect(call(calledBy, "b", first)).toBe(false);
});

test("a tool that is built anew with the same source is the same tool", () => {
  const calledBy = createCalledBy();
  const build = () => toolOf("notify", async () => "mail");
  expect(call(calledBy, "a", build())).toBe(false);
  expect(call(calledBy, "a", build())).toBe(false);
  expect(call(calledBy, "a", toolOf("notify", sms))).toBe(true);
});

test("tools of one source for two services are two tools", () => {
  const calledBy = createCalledBy();
  expect(call(calledBy, "a", toolOf("notify", mail, "one"))).toBe(false);
  expect(call(calledBy, "a", toolOf("notify", mail, "two"))).toBe(true);
});

test("a source that is not known is not held against a tool", () => {
  const calledBy = createCalledBy();
  const unknown = toolOf(
    "notify",
    standsFor(async () => {}, undefined),
  );
  expect(call(calledBy, "a", toolOf("notify", mail))).toBe(false);
  expect(call(calledBy, "a", unknown)).toBe(false);
  expect(call(calledBy, "b", unknown)).toBe(false);
  expect(call(calledBy, "b", toolOf("notify", sms))).toBe(false);
  expect(call(calledBy, "a", toolOf("notify", sms))).toBe(true);
});

test("to ask makes nothing one's own", () => {
  const calledBy = createCalledBy();
  expect(calledBy.isOther(refOf("a"), toolOf("notify", mail))).toBe(false);
  expect(call(calledBy, "a", toolOf("notify", sms))).toBe(false);
  expect(calledBy.isOther(refOf("a"), toolOf("notify", mail))).toBe(true);
});

test("a second note changes nothing: the first tool stays the first", () => {
  const calledBy = createCalledBy();
  const [first, second] = [toolOf("notify", mail), toolOf("notify", sms)];
  calledBy.note(refOf("a"), first);
  calledBy.note(refOf("a"), second);
  expect(calledBy.isOther(refOf("a"), first)).toBe(false);
  expect(calledBy.isOther(refOf("a"), second)).toBe(true);
});

test("what was forgotten is any tool's to call", () => {
  const calledBy = createCalledBy(4);
  const [first, second] = [toolOf("notify", mail), toolOf("notify", sms)];
  for (const id of ["a", "b", "c"]) call(calledBy, id, first);
  for (const id of ["a", "c"]) {
    expect(calledBy.isOther(refOf(id), second)).toBe(true);
    calledBy.forget(refOf(id));
    expect(call(calledBy, id, second)).toBe(false);
  }
});

test("the latest operations are kept, at least half as many as may be", () => {
  const calledBy = createCalledBy(4);
  const [first, second] = [toolOf("notify", mail), toolOf("notify", sms)];
  for (const id of ["a", "b", "c", "d", "e"]) call(calledBy, id, first);
  const kept = ["a", "b", "c", "d", "e"].filter((id) => calledBy.isOther(refOf(id), second));
  expect(kept).toEqual(["c", "d", "e"]);
});

test("the tools of names beyond those that are counted are told apart too", () => {
  const calledBy = createCalledBy(2);
  for (const name of ["one", "two"]) call(calledBy, name, toolOf(name, mail));
  expect(call(calledBy, "a", toolOf("three", mail))).toBe(false);
  expect(call(calledBy, "a", toolOf("three", sms))).toBe(true);
});
