/**
 * The templates of `holdfire init`: for each framework, the packages that it is found by and its program.
 *
 * The programs are those in `examples/`, which is part of the package: what is written is what is tested there.
 *
 * @module
 */

import {
  type Ending,
  exampleProgram,
  frameworkConfig,
  mcpProgram,
  plainConfig,
  plainProgram,
} from "./programs.ts";

export interface Template {
  /** The framework, as `--framework` names it. */
  readonly name: string;
  /** It is meant for projects that ask for one of these packages; the first one wins. */
  readonly packages: readonly string[];
  /** What the program imports beside holdfire. */
  readonly needs: readonly string[];
  /** What the program wants from the environment, e.g. `OPENAI_API_KEY`. */
  readonly env?: string | undefined;
  /** `app`: the name of the program, which is part of every key. */
  readonly config: (ending: Ending, app: string) => string;
  readonly program: (ending: Ending) => string;
}

/** The program of `examples/NAME.ts`. */
const example = (name: string) => ({
  name,
  config: frameworkConfig,
  program: (ending: Ending) => exampleProgram(name, ending),
});

/** Projects ask for several of these packages at once, so those that build upon others come first. */
export const TEMPLATES: readonly Template[] = [
  {
    ...example("mastra"),
    packages: ["@mastra/core"],
    needs: ["@mastra/core", "zod"],
    env: "OPENAI_API_KEY",
  },
  {
    ...example("openai-agents"),
    packages: ["@openai/agents"],
    needs: ["@openai/agents", "zod"],
    env: "OPENAI_API_KEY",
  },
  {
    ...example("langchain"),
    packages: ["langchain", "@langchain/langgraph", "@langchain/core"],
    needs: ["langchain", "@langchain/core", "@langchain/langgraph", "@langchain/openai", "zod"],
    env: "OPENAI_API_KEY",
  },
  {
    ...example("ai"),
    packages: ["ai"],
    needs: ["ai", "@ai-sdk/openai", "zod"],
    env: "OPENAI_API_KEY",
  },
  {
    ...example("anthropic"),
    packages: ["@anthropic-ai/sdk"],
    needs: ["@anthropic-ai/sdk", "zod"],
    env: "ANTHROPIC_API_KEY",
  },
  {
    ...example("openai"),
    packages: ["openai"],
    needs: ["openai"],
    env: "OPENAI_API_KEY",
  },
  {
    name: "mcp",
    packages: ["@modelcontextprotocol/client"],
    needs: ["@modelcontextprotocol/client"],
    config: frameworkConfig,
    program: (ending) =>
      mcpProgram("@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio", ending),
  },
  {
    // The first version of the SDK is one package for clients and servers.
    name: "mcp-v1",
    packages: ["@modelcontextprotocol/sdk"],
    needs: ["@modelcontextprotocol/sdk"],
    config: frameworkConfig,
    program: (ending) =>
      mcpProgram(
        "@modelcontextprotocol/sdk/client/index.js",
        "@modelcontextprotocol/sdk/client/stdio.js",
        ending,
      ),
  },
  { name: "plain", packages: [], needs: [], config: plainConfig, program: plainProgram },
];
