/**
 * Puts a tool's declarations to the test: sends one key twice, loses requests and replies on purpose,
 * reads, and says whether `keyed`, `readState` and `commitsWithinMs` are true.
 *
 * Subpath export `"holdfire/testing"`.
 *
 * @module
 */

import { show } from "../engine/define/check.ts";
import { defineTool } from "../engine/define/define-tool.ts";
import type {
  ToolDefinition,
  ToolWithInput,
  ToolWithoutInput,
} from "../engine/define/definition.ts";
import type { Tool } from "../engine/define/tool.ts";
import { InvalidInputError } from "../errors.ts";
import { type Proof, proofOf } from "./prove-tool/proof.ts";
import { startProxy } from "./prove-tool/proxy.ts";
import { checkSandbox, type Sandbox } from "./prove-tool/sandbox.ts";
import { runTrials } from "./prove-tool/trial.ts";

export type { Claim, ClaimVerdict, Proof } from "./prove-tool/proof.ts";
export type { ProbedRequest, Sandbox } from "./prove-tool/sandbox.ts";

/**
 * Makes three real effects in the sandbox, more if a claim is false, and takes `commitsWithinMs` and a
 * little more. A claim that does not hold is a verdict and never an error.
 *
 * @example
 * ```ts
 * const proof = await proveTool(refundTool("http://127.0.0.1:4010"), {
 *   target: "http://127.0.0.1:4010",
 *   connect: (baseUrl) => refundTool(baseUrl),
 *   args: () => ({ paymentId: `p${next++}`, amount: 400 }),
 * });
 * console.log(proof.text);
 * ```
 */
export function proveTool<A, R, I = A, G = A>(
  definition: ToolWithInput<A, I, R, G>,
  sandbox: Sandbox<NoInfer<A>, NoInfer<I>, NoInfer<R>, NoInfer<G>>,
): Promise<Proof>;
export function proveTool<A, R, I = A>(
  definition: ToolWithoutInput<A, I, R>,
  sandbox: Sandbox<NoInfer<A>, NoInfer<I>, NoInfer<R>>,
): Promise<Proof>;
export async function proveTool(definition: object, sandbox: object): Promise<Proof> {
  const claimed = define(definition);
  if (claimed.kind === "read") {
    throw new InvalidInputError(
      `tool "${claimed.name}".kind`,
      "is read, so there is nothing to prove.",
    );
  }
  const ground = checkSandbox(
    sandbox as Sandbox<never, never, unknown>,
    claimed.commitsWithinMs ?? 0,
  );
  const { connect, target, carriesEffect } = ground;
  if (!connect) return proofOf(claimed, await runTrials(claimed, ground, undefined));
  const proxy = await startProxy(target, carriesEffect);
  try {
    const tool = define(connect(proxy.url));
    checkSame(claimed, tool);
    return proofOf(tool, await runTrials(tool, ground, proxy));
  } finally {
    await proxy.close();
  }
}

const define = (definition: object): Tool =>
  defineTool(definition as ToolDefinition<never, never, unknown>, new Map());

/** What is proved must be what is claimed. */
function checkSame(claimed: Tool, connected: Tool): void {
  for (const option of ["name", "kind", "keyedForMs", "commitsWithinMs"] as const) {
    if (claimed[option] === connected[option]) continue;
    throw new InvalidInputError(
      "sandbox.connect",
      `must return the same definition: ${option} is ${show(connected[option])}, not ${show(claimed[option])}.`,
    );
  }
}
