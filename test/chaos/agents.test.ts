/** `holdfire chaos` on six agents, without holdfire and with it, and on one small program for each layer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { start } from "../cli/start.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testSmallAgent } from "./bank.ts";
import { testAgent } from "./world.ts";

const LONG = 180_000;

/** What names the layer in each. OpenAI's runner ends with the tool's error, so that the run is made again. */
const SIX = [
  { name: "openai", layer: "loop", by: "p-retry", at: "test/chaos/agent.ts" },
  { name: "anthropic", layer: "model", at: "examples/anthropic.ts" },
  { name: "ai", layer: "model", at: "examples/ai.ts" },
  { name: "langgraph", layer: "model", at: "examples/langgraph.ts" },
  { name: "openai-agents", layer: "model", at: "examples/openai-agents.ts" },
  { name: "mcp", layer: "model", at: "examples/mcp.ts" },
] as const;

describe.each(SIX)("$name", ({ name, layer, at, ...more }) => {
  test(
    "without holdfire: sent twice, and the layer is named",
    async () => {
      const { exitCode, report, err, service } = await testAgent({
        name,
        isGuarded: false,
        isRetried: true,
      });
      expect(exitCode, err).toBe(1);
      const found = report.runs.at(-1)?.sentAgain ?? [];
      const by = "by" in more ? more.by : undefined;
      expect(found.map((one) => ({ layer: one.layer, by: one.by }))).toEqual(
        found.map(() => ({ layer, by })),
      );
      expect(found.map((one) => one.at?.split(":")[0])).toContain(at);
      // One without faults, two for each reply that was broken.
      expect(service.effects).toHaveLength(1 + 2 * report.runs.length);
    },
    LONG,
  );

  test(
    "with holdfire: nothing is sent twice",
    async () => {
      const isMcp = name === "mcp";
      const { exitCode, report, err, service } = await testAgent(
        { name, isGuarded: true, isRetried: true, asks: isMcp },
        // Not `find_payouts`: holdfire tries the reader once after the first payout, if the agent is not over by then.
        ...(isMcp ? ["--ignore", "find_payouts"] : []),
      );
      expect(report.runs).not.toEqual([]);
      expect(report.runs.flatMap(({ sentAgain }) => sentAgain)).toEqual([]);
      expect(report.verdict, err).toBe("nothing_sent_twice");
      expect(exitCode).toBe(0);
      expect(service.effects).toHaveLength(1 + report.runs.length);
    },
    LONG,
  );
});

describe("each layer is told from the others", () => {
  test.each([
    ["own_loop", "loop", undefined],
    ["own_loop_http", "loop", undefined],
    ["own_loop_undici", "loop", undefined],
    ["own_loop_tls", "loop", undefined],
    ["own_loop_http_tls", "loop", undefined],
    ["own_loop_undici_tls", "loop", undefined],
    ["own_loop_around_sdk", "loop", undefined],
    ["p_retry", "loop", "p-retry"],
    ["cockatiel", "loop", "cockatiel"],
    ["langgraph", "framework", "@langchain/langgraph"],
    ["openai_sdk", "sdk", "openai"],
    ["axios_retry", "sdk", "axios-retry"],
    ["got", "sdk", "got"],
    ["restart", "restart", undefined],
  ])(
    "%s",
    async (name, layer, by) => {
      const { exitCode, report, err, arrivals } = await testSmallAgent(name, "--json");
      expect(report?.runs[0]?.sentAgain[0], err).toMatchObject({
        layer,
        sent: 2,
        withoutFaults: 1,
      });
      expect(report?.runs[0]?.sentAgain[0]?.by).toBe(by);
      expect(report?.runs[0]?.sentAgain[0]?.at).toMatch(/^test\/chaos\/small-agent\.ts:\d+$/);
      expect(exitCode).toBe(1);
      expect(arrivals).toBe(3);
    },
    LONG,
  );

  test(
    "a repeat under its key is told, and passes",
    async () => {
      const { exitCode, report } = await testSmallAgent("stripe", "--json");
      expect(report?.runs[0]?.sentAgain[0]).toMatchObject({ by: "stripe", isKeyed: true });
      expect(exitCode).toBe(0);
    },
    LONG,
  );

  test(
    "what was sent twice without faults is meant",
    async () => {
      const { exitCode, report } = await testSmallAgent("two_wanted", "--json");
      expect(report?.withoutFaults.writes).toMatchObject([{ sent: 2 }]);
      expect(exitCode).toBe(0);
    },
    LONG,
  );
});

test.each(["lose-reply", "slow", "status-503", "status-500"])(
  "%s makes an SDK send again",
  async (fault) => {
    const { exitCode, report } = await testSmallAgent(
      "openai_sdk",
      "--json",
      "--fault",
      fault,
      "--slow",
      "3s",
    );
    expect(report?.runs[0]).toMatchObject({ fault, isHit: true, sentAgain: [{ by: "openai" }] });
    expect(exitCode).toBe(1);
  },
  LONG,
);

test(
  "truncate makes a loop send again",
  async () => {
    const { report } = await testSmallAgent("own_loop", "--json", "--fault", "truncate");
    expect(report?.runs[0]).toMatchObject({ isHit: true, sentAgain: [{ layer: "loop" }] });
  },
  LONG,
);

describe("an MCP server over stdio", () => {
  const newFolder = temporaryFolder();
  const paidIn = (folder: string) =>
    readFileSync(join(folder, "effects"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"pay"')).length;

  test.each(["reset", "lose-reply"])(
    "%s: bare it is called twice, through the gateway once",
    async (fault) => {
      for (const way of ["bare", "gateway"]) {
        const folder = newFolder();
        const agent = [process.execPath, "test/chaos/mcp-agent.ts", way, folder];
        const options = ["chaos", "--json", "--fault", fault, "--", ...agent];
        const { exitCode, out, err } = await start(options, process.cwd());
        const { runs } = JSON.parse(out);
        expect(exitCode, err).toBe(way === "bare" ? 1 : 0);
        expect(paidIn(folder)).toBe(way === "bare" ? 3 : 1 + runs.length);
        if (way === "bare") expect(runs[0].sentAgain).toMatchObject([{ layer: "loop", sent: 2 }]);
        else expect(runs).toHaveLength(2);
      }
    },
    LONG,
  );
});
