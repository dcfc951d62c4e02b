import { expect, test } from "vitest";
import {
  isMcpAnswer,
  isMethodNotFound,
  McpNotSentError,
  McpToolError,
  McpTurnedAwayError,
  verdictOfMcp,
  verdictOfMcpRead,
} from "../../src/classify/mcp.ts";
import { HOSTILE } from "./hostile.ts";

const coded = (code: unknown) => Object.assign(new Error("said so"), { code });

test("hardly anything proves anything", () => {
  const codes = [
    -32001,
    -32000,
    -32600,
    -32601,
    -32602,
    -32603,
    -32700,
    404,
    401,
    "REQUEST_TIMEOUT",
  ];
  for (const code of codes) expect(verdictOfMcp(coded(code)), String(code)).toBe("unknown");
  for (const code of ["NOT_CONNECTED", "ECONNREFUSED", "CONNECTION_CLOSED"]) {
    expect(verdictOfMcp(coded(code)), code).toBe("unknown");
  }
  expect(verdictOfMcp(undefined)).toBe("unknown");
  expect(verdictOfMcp(Object.assign(new Error("no"), { status: 403 }))).toBe("unknown");
});

test("isError means what was declared, and otherwise nothing", () => {
  const failed = new McpToolError({ content: [], isError: true });
  expect(verdictOfMcp(failed)).toBe("unknown");
  expect(verdictOfMcp(failed, "rejected")).toBe("rejected");
  expect(verdictOfMcp(failed, "refused")).toBe("refused");
  // The declaration is about the tool's answer and not about lost ones.
  expect(verdictOfMcp(coded(-32001), "rejected")).toBe("unknown");
});

test("what the wire has shown is proof", () => {
  expect(verdictOfMcp(new McpNotSentError("it is closed"))).toBe("not_sent");
  expect(verdictOfMcp(new McpTurnedAwayError(coded(401)))).toBe("rejected");
});

test("a read is not asked again for an answer that would be the same", () => {
  for (const code of [-32600, -32601, -32602, -32603, -32700]) {
    expect(verdictOfMcpRead(coded(code)), String(code)).toBe("rejected");
    expect(verdictOfMcpRead(new Error("wrapped", { cause: coded(code) }))).toBe("rejected");
  }
  for (const code of [-32001, -32000, "REQUEST_TIMEOUT", undefined]) {
    expect(verdictOfMcpRead(coded(code)), String(code)).toBe("unknown");
  }
});

test("a method that the server does not know is told from other errors", () => {
  expect(isMethodNotFound(coded(-32601))).toBe(true);
  expect(isMethodNotFound(coded(-32602))).toBe(false);
  expect(isMethodNotFound(coded(32601))).toBe(false);
});

test("an answer is told from what was never answered, and each keeps what it came from", () => {
  const cause = coded(401);
  const result = { content: [], isError: true };
  expect(isMcpAnswer(new McpToolError(result))).toBe(true);
  expect(isMcpAnswer(new McpTurnedAwayError(cause))).toBe(false);
  expect(new McpToolError(result).result).toBe(result);
  expect(new McpTurnedAwayError(cause).cause).toBe(cause);
  expect(new McpNotSentError("it is closed", cause).cause).toBe(cause);
});

test("looking at an error is never a second failure", () => {
  for (const [name, value] of HOSTILE) {
    expect(verdictOfMcp(value), name).toBe("unknown");
    expect(() => verdictOfMcpRead(value), name).not.toThrow();
    expect(isMethodNotFound(value), name).toBe(false);
  }
});

test("what a server said stays out of what is logged", () => {
  const failed = new McpToolError({ content: [{ type: "text", text: "s3cret" }] });
  expect(JSON.stringify({ ...failed })).not.toContain("s3cret");
  expect(String(failed)).not.toContain("s3cret");
});
