/**
 * What every framework adapter must do. An adapter is done when this suite passes on it.
 *
 * Subpath export `"holdfire/testing"`.
 *
 * @module
 */

import type { AdapterContractOptions } from "./adapter-contract/drive.ts";
import { handedScenarios } from "./adapter-contract/handed.ts";
import { adapterScenarios } from "./adapter-contract/scenarios.ts";
import { runnerOf } from "./runner.ts";

export {
  type AdapterCall,
  type AdapterCapabilities,
  type AdapterContractOptions,
  type AdapterSetup,
  type Hand,
  type HandedCall,
  PAY_SCHEMA,
  type PayArguments,
  type PayDefinition,
  type PayIntent,
} from "./adapter-contract/drive.ts";
export { handedScenarios } from "./adapter-contract/handed.ts";
export { type AdapterScenario, adapterScenarios } from "./adapter-contract/scenarios.ts";

/**
 * Registers one test per scenario.
 *
 * @example
 * ```ts
 * adapterContract("direct", {
 *   async drive({ hf, definition, call }) {
 *     const { scope, signal, toolCallId } = call;
 *     const options = { scope, signal, aliases: [toolCallId] };
 *     return { text: JSON.stringify(await hf.tool(definition).reply(JSON.parse(call.args), options)) };
 *   },
 * });
 * ```
 */
export function adapterContract(name: string, options: AdapterContractOptions): void {
  const { describe, test } = runnerOf(options.runner);
  const { capabilities = {} } = options;
  describe(`adapter contract: ${name}`, () => {
    for (const { name: sentence, needs, run } of adapterScenarios) {
      if (needs && capabilities[needs] === false) continue;
      test(sentence, () => run(options));
    }
    if (!options.hand) return;
    for (const { name: sentence, run } of handedScenarios) test(sentence, () => run(options));
  });
}
