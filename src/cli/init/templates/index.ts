/**
 * All templates. Projects ask for several of these packages at once, so those that build upon others come
 * first.
 *
 * @module
 */

import type { Template } from "../template.ts";
import { ai } from "./ai.ts";
import { anthropic } from "./anthropic.ts";
import { langchain } from "./langchain.ts";
import { mastra } from "./mastra.ts";
import { mcp, mcpFirst } from "./mcp.ts";
import { openai } from "./openai.ts";
import { openaiAgents } from "./openai-agents.ts";
import { plain } from "./plain.ts";

export const TEMPLATES: readonly Template[] = [
  mastra,
  openaiAgents,
  langchain,
  ai,
  anthropic,
  openai,
  mcp,
  mcpFirst,
  plain,
];
