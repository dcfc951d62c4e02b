/**
 * The official conformance suite, client side, gives the same result with the gateway and without it, scenario by
 * scenario, for both revisions of the protocol; and whatever a client must pass is passed.
 */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Checked, NOT_RUN, REVISIONS, runScenario, scenariosOf } from "./suite.ts";

const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));
const SCENARIO_MS = 300_000;

/** How soon a stream is opened again depends on the machine and not on us. */
const withoutTimes = (ids: readonly string[]): readonly string[] =>
  ids.filter((id) => id !== "client-sse-retry-timing");

const both = (run: (way: "bare" | "gateway") => Promise<Checked>): Promise<readonly Checked[]> =>
  Promise.all([run("bare"), run("gateway")]);

describe.each(REVISIONS)("clients, %s", (revision) => {
  const { required, optional } = scenariosOf(revision, "client");
  const run = (scenario: string) =>
    both((way) =>
      runScenario("client", scenario, revision, [
        "--command",
        `${process.execPath} ${CLIENT} ${way}`,
      ]),
    );

  test("the suite has scenarios", () => {
    expect(required.length).toBeGreaterThanOrEqual(18);
  });

  test.each(required)(
    "%s",
    async (scenario) => {
      const [bare, gateway] = await run(scenario);
      expect(withoutTimes(gateway?.failed ?? [])).toEqual([]);
      expect(withoutTimes(gateway?.passed ?? [])).toEqual(withoutTimes(bare?.passed ?? []));
      expect(gateway?.passed.length).toBeGreaterThan(0);
    },
    SCENARIO_MS,
  );

  /** Grants of OAuth that this client does not have fail both ways. */
  test.each(optional)(
    "not required: %s, the same both ways",
    async (scenario) => {
      const [bare, gateway] = await run(scenario);
      expect(bare?.failed).not.toContain(NOT_RUN);
      expect(gateway).toEqual(bare);
    },
    SCENARIO_MS,
  );
});
