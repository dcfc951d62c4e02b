/**
 * The official conformance suite, server side: a server over stdio, behind a bridge to HTTP, passes the same checks
 * with the gateway before it and without it, scenario by scenario, for both revisions of the protocol; and whatever a
 * server must pass is passed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startBridge } from "./bridge.ts";
import {
  type Checked,
  NOT_RUN,
  REVISIONS,
  type Revision,
  runScenario,
  scenariosOf,
} from "./suite.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SERVER = [process.execPath, at("server.ts")] as const;
const SCENARIO_MS = 120_000;

const NO_TASKS = "the SDK's server has no tasks of this extension";
const HEADERS =
  "of the headers of HTTP, which stdio does not have: it is the bridge that does not check them";

/** What fails with the gateway and without it, and why. None of it is required of a server. */
const FAILS_BOTH_WAYS: Readonly<Record<string, string>> = {
  "tasks-lifecycle": NO_TASKS,
  "tasks-capability-negotiation": NO_TASKS,
  "tasks-wire-fields": NO_TASKS,
  "tasks-request-state-removal": NO_TASKS,
  "tasks-mrtr-input": NO_TASKS,
  "tasks-request-headers": NO_TASKS,
  "tasks-dispatch-and-envelope": NO_TASKS,
  "tasks-required-task-error": NO_TASKS,
  "tasks-mrtr-composition": NO_TASKS,
  "http-header-validation": HEADERS,
  "http-custom-header-server-validation": HEADERS,
};

/** What checks nothing, with the gateway and without it, and why. */
const CHECKS_NOTHING: Readonly<Record<string, string>> = {
  "tasks-status-notifications": NO_TASKS,
  "server-sse-polling": "a stream that the server closes in mid-call: stdio has no streams",
};

async function checked(way: "bare" | "gateway", scenario: string, revision: Revision) {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-conformance-server-"));
  const gateway = [at("../../../src/cli/main.ts"), "mcp", "--store", join(folder, "ledger.db")];
  const [node] = SERVER;
  const command = way === "bare" ? SERVER : ([node, ...gateway, "--", ...SERVER] as const);
  const bridge = await startBridge(command, revision >= "2026-07-28");
  try {
    return await runScenario("server", scenario, revision, ["--url", bridge.url]);
  } finally {
    await bridge.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.each(REVISIONS)("servers, %s", (revision) => {
  const { required, optional } = scenariosOf(revision, "server");
  const both = (scenario: string): Promise<[Checked, Checked]> =>
    Promise.all([checked("bare", scenario, revision), checked("gateway", scenario, revision)]);

  test("the suite has scenarios", () => {
    expect(required.length).toBeGreaterThanOrEqual(30);
  });

  test.each(required)(
    "%s",
    async (scenario) => {
      const [bare, gateway] = await both(scenario);
      expect(gateway.failed).toEqual([]);
      expect(gateway.passed).toEqual(bare.passed);
      expect(gateway.passed.length).toBeGreaterThan(0);
    },
    SCENARIO_MS,
  );

  test.each(optional)(
    "not required: %s, the same both ways",
    async (scenario) => {
      const [bare, gateway] = await both(scenario);
      expect(bare.failed).not.toContain(NOT_RUN);
      expect(gateway).toEqual(bare);
      expect(bare.failed.length > 0).toBe(scenario in FAILS_BOTH_WAYS);
      expect(bare.passed.length + bare.failed.length === 0).toBe(scenario in CHECKS_NOTHING);
    },
    SCENARIO_MS,
  );
});
