/** A rule for every tool, by type: what is missing does not compile, and a rule has its tool's own arguments. */
import { openai } from "@ai-sdk/openai";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { tool as langChainTool } from "@langchain/core/tools";
import { createTool } from "@mastra/core/tools";
import { tool } from "ai";
import { zodFunction, zodResponsesFunction } from "openai/helpers/zod";
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { committed, createHoldfire } from "../../src/index.ts";
import { guardTools as guardAi } from "../../src/integrations/ai/index.ts";
import { guardTools as guardAnthropic } from "../../src/integrations/anthropic/index.ts";
import {
  guardTools as guardLangChain,
  guardTool as guardLangChainTool,
} from "../../src/integrations/langchain/index.ts";
import { guardTools as guardMastra } from "../../src/integrations/mastra/index.ts";
import { guardTools as guardOpenAi } from "../../src/integrations/openai/index.ts";
import { guardTool as guardAgentTool } from "../../src/integrations/openai-agents/index.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const hf = createHoldfire({ store: memoryStore() });
const schema = z.object({ payee: z.string(), cents: z.number() });
type Payout = { payee: string; cents: number };
const paid = { id: "po_1" };
const jobs = z.object({ job: z.string() });

describe("AI SDK", () => {
  const pay = tool({ inputSchema: schema, execute: async () => paid });
  const status = tool({ inputSchema: jobs, execute: async () => "queued" });
  const search = openai.tools.webSearch({});

  test("each tool has a rule, or all others have", () => {
    guardAi({ pay, status }, hf, { pay: "write", status: "read" });
    guardAi({ pay, status }, hf, { pay: "destructive", "*": "read" });
    guardAi({ pay, status }, hf, { "*": { kind: "write" } });
    // @ts-expect-error status has none
    guardAi({ pay, status }, hf, { pay: "write" });
    // @ts-expect-error none has one
    guardAi({ pay, status }, hf, {});
    // @ts-expect-error rules are not optional
    guardAi({ pay }, hf);
    // @ts-expect-error an object has a kind
    guardAi({ pay }, hf, { pay: { attempts: 1 } });
    // @ts-expect-error there is no such kind
    guardAi({ pay }, hf, { pay: "ask" });
  });

  test("a tool of the provider needs none", () => {
    guardAi({ pay, search }, hf, { pay: "write" });
  });

  test("a rule has its tool's own arguments and result", () => {
    guardAi({ pay, status }, hf, {
      pay: {
        kind: "write",
        intent: (args) => {
          expectTypeOf(args).toEqualTypeOf<Payout>();
          return args;
        },
        again: (args, { toolCallId, context }) => {
          expectTypeOf(args).toEqualTypeOf<Payout>();
          expectTypeOf(toolCallId).toEqualTypeOf<string | undefined>();
          return context.again;
        },
        readState: () => committed({ id: "po_2" }),
        effect: { id: ({ id }) => id },
      },
      status: { kind: "read", verify: (said) => said === "done" },
    });
    guardAi({ pay, status }, hf, {
      "*": "read",
      pay: { kind: "write", resource: ({ payee }) => payee },
    });
    // @ts-expect-error payees have no name
    guardAi({ pay }, hf, { pay: { kind: "write", resource: ({ name }) => name } });
  });
});

describe("Mastra", () => {
  const pay = createTool({
    id: "pay",
    description: "",
    inputSchema: schema,
    execute: async () => paid,
  });
  const status = createTool({
    id: "status",
    description: "",
    inputSchema: jobs,
    execute: async () => "",
  });

  test("each tool has a rule, with its own arguments", () => {
    guardMastra({ pay, status }, hf, {
      pay: { kind: "write", resource: ({ payee }) => payee },
      status: "read",
    });
    guardMastra({ pay, status }, hf, { "*": "write" });
    // @ts-expect-error status has none
    guardMastra({ pay, status }, hf, { pay: "write" });
    // @ts-expect-error payees have no name
    guardMastra({ pay }, hf, { pay: { kind: "write", resource: ({ name }) => name } });
  });
});

describe("LangChain", () => {
  const pay = langChainTool(async () => paid, { name: "pay", description: "", schema });
  const status = langChainTool(async () => "", { name: "status", description: "", schema: jobs });

  test("each tool has a rule, with its own arguments and result", () => {
    guardLangChain([pay, status], hf, {
      pay: {
        kind: "write",
        resource: ({ payee }) => payee,
        readState: () => committed({ id: "po_2" }),
      },
      status: "read",
    });
    guardLangChain([pay, status], hf, { "*": "write" });
    // @ts-expect-error status has none
    guardLangChain([pay, status], hf, { pay: "write" });
    // @ts-expect-error payees have no name
    guardLangChain([pay], hf, { pay: { kind: "write", resource: ({ name }) => name } });
    guardLangChainTool(pay, hf, { kind: "write", resource: ({ payee }) => payee });
    // @ts-expect-error it needs a rule
    guardLangChainTool(pay, hf);
  });
});

describe("OpenAI Agents", () => {
  const pay = {
    name: "pay",
    description: "",
    parameters: schema,
    execute: async (_: Payout) => paid,
  };

  test("a definition has a rule, with its own arguments and result", () => {
    guardAgentTool(pay, hf, {
      kind: "write",
      resource: ({ payee }) => payee,
      readState: () => committed({ id: "po_2" }),
    });
    guardAgentTool(pay, hf, "destructive");
    // @ts-expect-error it needs a rule
    guardAgentTool(pay, hf);
    // @ts-expect-error payees have no name
    guardAgentTool(pay, hf, { kind: "write", resource: ({ name }) => name });
  });
});

describe("OpenAI", () => {
  const plain = {
    type: "function",
    function: {
      name: "pay",
      description: "",
      parameters: {},
      parse: (text: string): Payout => JSON.parse(text),
      function: async (_: Payout) => paid,
    },
  } as const;
  const wide = { ...plain, function: { ...plain.function, name: "pay" as string } };
  const zod = zodFunction({ name: "pay", parameters: schema, function: async () => paid });
  const response = zodResponsesFunction({
    name: "pay",
    parameters: schema,
    function: async () => paid,
  });
  const status = zodFunction({ name: "status", parameters: jobs, function: async () => "queued" });
  const runnable = {
    tool: { type: "function", name: "pay" } as const,
    execute: async (_: Record<string, unknown>) => "paid",
  };
  const search = { type: "web_search" } as const;

  test("a tool whose type tells its name has a rule", () => {
    guardOpenAi([plain, search], hf, { pay: { kind: "write", resource: ({ payee }) => payee } });
    guardOpenAi([runnable], hf, { pay: { kind: "write", resource: ({ payee }: Payout) => payee } });
    // @ts-expect-error it has none
    guardOpenAi([plain], hf, {});
    // @ts-expect-error rules are not optional
    guardOpenAi([zod], hf);
  });

  test("a rule has its tool's own arguments, in every shape", () => {
    const resource = (args: Payout) => args.payee;
    guardOpenAi([wide], hf, { pay: { kind: "write", resource: ({ payee }) => payee } });
    guardOpenAi([zod], hf, { pay: { kind: "write", resource: ({ payee }) => payee } });
    guardOpenAi([response], hf, { pay: { kind: "write", resource: ({ payee }) => payee } });
    guardOpenAi([zod, status], hf, { pay: { kind: "write", resource }, status: "read" });
    guardOpenAi([zod, status], hf, {
      pay: { kind: "write", resource: ({ payee }) => payee },
      status: { kind: "read", again: ({ job }) => job },
    });
    // @ts-expect-error payees have no name
    guardOpenAi([zod], hf, { pay: { kind: "write", resource: ({ name }) => name } });
    // @ts-expect-error payees have no name
    guardOpenAi([plain], hf, { pay: { kind: "write", resource: ({ name }) => name } });
    // @ts-expect-error neither of them has a name
    guardOpenAi([zod, status], hf, { pay: { kind: "write", resource: ({ name }) => name } });
  });
});

describe("Anthropic", () => {
  const pay = betaZodTool({ name: "pay", description: "", inputSchema: schema, run: () => "paid" });
  const status = betaZodTool({ name: "status", description: "", inputSchema: jobs, run: () => "" });
  const search = { type: "web_search_20250305", name: "web_search" } as const;

  test("a rule has its tool's own arguments", () => {
    guardAnthropic([pay, search], hf, { pay: { kind: "write", resource: ({ payee }) => payee } });
    guardAnthropic([pay, status], hf, {
      pay: { kind: "write", resource: ({ payee }) => payee, readState: () => committed("paid") },
      status: "read",
    });
    // @ts-expect-error payees have no name
    guardAnthropic([pay], hf, { pay: { kind: "write", resource: ({ name }) => name } });
    // @ts-expect-error rules are not optional
    guardAnthropic([pay], hf);
  });
});
