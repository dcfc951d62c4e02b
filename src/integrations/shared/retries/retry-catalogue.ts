/**
 * What is known of packages that retry by themselves: how often, when, and what switches them off.
 *
 * Counted on a local server, in the version given; `npm run storm` counts again.
 *
 * @module
 */

export interface KnownClient {
  /** Its package. */
  readonly name: string;
  /** Packages that bring it along; one that ends in `*` stands for all that begin so. */
  readonly packages: readonly string[];
  /** Where its `ownRetries` is found; `undefined` where there is none. */
  readonly subpath?: string | undefined;
  /** The version that was counted. */
  readonly version: string;
  /** The most requests that one failing call makes, with the defaults or once it is asked to retry. */
  readonly requests: number;
  /** Whether it does so by default, or only where a program asks it to. */
  readonly when: "always" | "asked";
  /** Whether a request that timed out is sent again: the one that may have been done. */
  readonly timeouts: boolean;
  /** Whether a POST is sent again. */
  readonly posts: boolean;
  /** A `loop` runs your function again, with all that is in it; a `sender` sends one request again. */
  readonly layer: "loop" | "sender";
  readonly note?: string | undefined;
}

/** Every package that was counted. Those with a `subpath` can be owned. */
export const KNOWN_CLIENTS: readonly KnownClient[] = [
  {
    name: "openai",
    packages: ["openai"],
    subpath: "holdfire/openai",
    version: "7.53.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "Sends no key. Version 6 retries for ever at maxRetries -1; version 7 takes it for 2.",
  },
  {
    name: "@anthropic-ai/sdk",
    packages: ["@anthropic-ai/sdk"],
    subpath: "holdfire/anthropic",
    version: "1.8.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "Obeys a Retry-After of up to 24 days.",
  },
  {
    name: "ai",
    packages: ["ai"],
    subpath: "holdfire/ai",
    version: "7.0.169",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "Timeouts of the transport, not its own. A 200 whose body breaks off is asked for again.",
  },
  {
    name: "@langchain/core",
    packages: ["@langchain/core", "@langchain/openai", "@langchain/anthropic"],
    subpath: "holdfire/langchain",
    version: "1.2.13",
    ...{ requests: 7, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "ChatOpenAI has three callers; setting model.caller alone does nothing.",
  },
  {
    name: "@openai/agents",
    packages: ["@openai/agents", "@openai/agents-openai"],
    subpath: "holdfire/openai-agents",
    version: "0.20.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "The requests of its openai client; modelSettings.retry adds to them.",
  },
  {
    name: "@google/genai",
    packages: ["@google/genai"],
    subpath: "holdfire/genai",
    version: "2.32.0",
    ...{ requests: 5, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "interactions, agents and the like; models.* retries only with retryOptions.",
  },
  {
    name: "stripe",
    packages: ["stripe"],
    subpath: "holdfire/stripe",
    version: "23.1.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "maxNetworkRetries 0 still sends again once after a reset. Each call has a new key.",
  },
  {
    name: "octokit",
    packages: ["octokit", "@octokit/plugin-retry"],
    subpath: "holdfire/octokit",
    version: "5.0.5",
    ...{ requests: 4, when: "always", timeouts: false, posts: true, layer: "sender" },
    note: "Any method, after almost any status; and once more after a rate limit.",
  },
  {
    name: "@aws-sdk",
    packages: ["@aws-sdk/client-*"],
    subpath: "holdfire/aws",
    version: "3.1164.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: true, layer: "sender" },
    note: "AWS_MAX_ATTEMPTS=1 works, too.",
  },
  {
    name: "axios-retry",
    packages: ["axios-retry"],
    subpath: "holdfire/axios",
    version: "4.5.0",
    ...{ requests: 4, when: "always", timeouts: false, posts: true, layer: "sender" },
    note: "A POST only after a network error; after a timeout with clarifyTimeoutError.",
  },
  {
    name: "got",
    packages: ["got"],
    subpath: "holdfire/got",
    version: "16.1.0",
    ...{ requests: 3, when: "always", timeouts: true, posts: false, layer: "sender" },
    note: "PUT and DELETE are sent again.",
  },
  {
    name: "ky",
    packages: ["ky"],
    subpath: "holdfire/ky",
    version: "2.1.0",
    ...{ requests: 3, when: "always", timeouts: false, posts: false, layer: "sender" },
    note: "PUT and DELETE are sent again.",
  },
  {
    name: "undici",
    packages: ["undici"],
    version: "8.12.4",
    ...{ requests: 6, when: "asked", timeouts: false, posts: false, layer: "sender" },
    note: "RetryAgent only; its maxRetries: 0 is off. fetch and Agent send once.",
  },
  {
    name: "p-retry",
    packages: ["p-retry"],
    version: "9.0.0",
    ...{ requests: 11, when: "asked", timeouts: true, posts: true, layer: "loop" },
    note: "Calls your function again, after any error.",
  },
  {
    name: "@langchain/langgraph",
    packages: ["@langchain/langgraph"],
    version: "1.4.18",
    ...{ requests: 3, when: "asked", timeouts: true, posts: true, layer: "loop" },
    note: "A node with a retryPolicy is run again.",
  },
  {
    name: "langchain",
    packages: ["langchain"],
    version: "1.5.14",
    ...{ requests: 3, when: "asked", timeouts: true, posts: true, layer: "loop" },
    note: "toolRetryMiddleware runs a tool again; holdfire's errors carry the stamp that stops it.",
  },
  {
    name: "@mastra/core",
    packages: ["@mastra/core"],
    version: "1.71.0",
    ...{ requests: 3, when: "asked", timeouts: true, posts: true, layer: "loop" },
    note: "Steps and workflows with retries; an agent's model call is one request.",
  },
];
