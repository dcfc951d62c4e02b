import { expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { smtpMail } from "../../src/recipes/messages/smtp.ts";
import { startSmtp } from "./smtp-server.ts";
import { openStage } from "./stage.ts";

const MAIL = { from: "a@acme.com", to: "b@acme.com", subject: "Invoice 7", text: "It is due." };

async function open({ sentFolder = false } = {}) {
  const server = await startSmtp();
  const countSent = async (messageId: string) =>
    server.mails.filter((id) => id === messageId).length;
  const definition = smtpMail({
    transport: server.transport,
    domain: "mail.acme.com",
    ...(sentFolder && { countSent }),
  });
  return { server, definition, stage: openStage() };
}

test("the Message-ID is the key", async () => {
  const { server, definition, stage } = await open();
  const { key, status } = await stage.call(stage.tool(definition), MAIL);
  expect(status).toBe("committed");
  expect(server.mails).toEqual([`<${key}@mail.acme.com>`]);
});

test.each(["after", "before"] as const)(
  "without a Sent folder, a mail lost %s it was taken stays unknown",
  async (loss) => {
    const { server, definition, stage } = await open();
    server.lose(loss);
    const outcome = await stage.call(stage.tool(definition), MAIL);
    expect(outcome).toMatchObject({ status: "unknown", reason: "run_failed" });
    expect(server.writes).toHaveLength(1);
  },
);

test("a copy in the Sent folder is proof", async () => {
  const { server, definition, stage } = await open({ sentFolder: true });
  server.lose("after");
  const outcome = await stage.call(stage.tool(definition), MAIL);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
  expect([server.writes.length, server.mails.length]).toEqual([1, 1]);
});

test("no copy is no proof, whatever window is declared", async () => {
  const { server, definition, stage } = await open({ sentFolder: true });
  server.lose("before");
  const tool = stage.tool({ ...definition, commitsWithinMs: 1_000 });
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect(server.writes).toHaveLength(1);
});

test("another's mail of the same words is not this one's", async () => {
  const { server, definition, stage } = await open({ sentFolder: true });
  const tool = stage.tool(definition);
  await stage.call(tool, MAIL, "another-request");
  server.lose("before");
  expect(await stage.call(tool, MAIL)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
});

test("two copies are an alarm", async () => {
  const { server, definition, stage } = await open({ sentFolder: true });
  server.lose("twice");
  expect(await stage.call(stage.tool(definition), MAIL)).toMatchObject({ status: "committed" });
  expect(stage.duplicates()).toBe(1);
});

test.each([
  [550, { status: "not_applied", reason: "rejected", attempts: 1 }],
  [451, { status: "committed", attempts: 2, licence: "refused" }],
  [421, { status: "unknown", reason: "run_failed", attempts: 1 }],
])("a server's %i", async (status, expected) => {
  const { server, definition, stage } = await open();
  server.lose({ status });
  expect(await stage.call(stage.tool(definition), MAIL)).toMatchObject(expected);
});

test("an answer that is not about this mail proves nothing", () => {
  const { classify } = smtpMail({ transport: { sendMail: async () => ({}) }, domain: "acme.com" });
  // nodemailer's own words for a connection that was lost, in whatever state.
  expect(classify?.({ code: "ECONNECTION", command: "CONN", responseCode: 550 })).toBeUndefined();
});

test("a domain is a host name", () => {
  const transport = { sendMail: async () => ({}) };
  expect(() => smtpMail({ transport, domain: "acme.com>\r\nBcc: x" })).toThrow(InvalidInputError);
});

test("several recipients in one text are refused before anything is sent", async () => {
  const { server, definition, stage } = await open();
  const tool = stage.tool(definition);
  for (const to of ["b@acme.com, c@acme.com", '"Bo" <b@acme.com>;c@acme.com']) {
    await expect(tool.outcome({ ...MAIL, to }, { scope: "s" })).rejects.toThrow(InvalidInputError);
  }
  expect(server.writes).toHaveLength(0);
  const named = { ...MAIL, to: '"Bo, of Acme" <b@acme.com>' };
  expect(await stage.call(tool, named)).toMatchObject({ status: "committed" });
});
