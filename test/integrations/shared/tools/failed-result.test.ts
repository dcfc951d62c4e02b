import { describe, expect, it } from "vitest";
import { McpToolError } from "../../../../src/integrations/mcp/index.ts";
import { failureIn } from "../../../../src/integrations/shared/tools/failed-result.ts";
import { guardFunction } from "../../../../src/integrations/shared/tools/guard-function.ts";
import type { ToolRules } from "../../../../src/integrations/shared/tools/rules.ts";
import { openHoldfire } from "../scripted.ts";

const FAILED = { content: [{ type: "text", text: "upstream\ntimed out" }], isError: true };

/** A tool of an MCP server, as the clients of AI SDK and Mastra hand it on. */
function serving(result: unknown, rules: ToolRules = { kind: "write" }) {
  let calls = 0;
  const call = guardFunction<undefined>(openHoldfire(), {
    name: "pay",
    rules,
    line: "Pass { scope }",
    async execute() {
      calls += 1;
      return result;
    },
  });
  return {
    call: () => call({ amount: 1 }, { scope: "s", context: undefined }),
    calls: () => calls,
  };
}

describe("a tool whose result says isError", () => {
  it("is not told as done", async () => {
    const { call, calls } = serving(FAILED);
    const reply = await call();
    expect(reply).toMatchObject({ ok: false, outcome: "unknown" });
    expect(reply.message).toContain("answered with an error");
    expect(await call()).toMatchObject({ outcome: "unknown" });
    expect(calls()).toBe(1);
  });

  it("fails with the server's words", () => {
    expect(failureIn(FAILED)?.message).toBe(
      "The MCP tool answered with an error: upstream timed out",
    );
  });

  it("was rejected, where the tool's rule says so", async () => {
    const { call } = serving(FAILED, {
      kind: "write",
      classify: (error) => (error instanceof McpToolError ? "rejected" : undefined),
    });
    expect(await call()).toMatchObject({ ok: false, outcome: "not_applied" });
  });

  it("is the answer of a read, asked for once", async () => {
    const { call, calls } = serving(FAILED, { kind: "read" });
    expect(await call()).toMatchObject({ ok: true, data: FAILED });
    expect(calls()).toBe(1);
  });

  it.each([[{ ...FAILED, isError: false }], [{ isError: true }]])(
    "%j is a result",
    async (result) => {
      expect(await serving(result).call()).toMatchObject({ ok: true, data: result });
    },
  );
});
