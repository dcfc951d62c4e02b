import { generateText, type LanguageModel, type ToolSet } from "ai";
import { guardTools } from "../../src/clients/ai.ts";
import type { Holdfire } from "../../src/create.ts";
declare const set: ToolSet;
declare const hf: Holdfire;
declare const model: LanguageModel;
export const guarded = guardTools(set, hf, { any: { kind: "write" } }, { thread: "t" });
export const done = generateText({ model, tools: guarded, prompt: "x" });
