import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { nodeProblem } from "../../src/lang/node-version.ts";

test.each(["20.20.2", "22.17.9", "18.0.0", ""])("Node %s is told to be too old", (version) => {
  expect(nodeProblem(version)).toMatch(/^holdfire needs Node 22\.18 or newer; this is /);
});

test.each(["22.18.0", "22.20.1", "24.0.0", "26.1.0-nightly"])("Node %s will do", (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

test("it is what the package asks for", () => {
  expect(manifest.engines.node).toBe(">=22.18");
});
