/**
 * GitHub issues and pull requests. GitHub documents no idempotency key, so the key is put into the body as a
 * comment that is not shown, and searched for in the newest items of the repository's list.
 *
 * By list and never by search: the search index lags. The list lags too. How far is not published; a list without an issue that
 * was there for seconds, and once for about 8 minutes, was reported (github.com/judell/bram, issues 252 and 254).
 *
 * @module
 */

import type { AttemptContext, ToolWithInput } from "../../engine/define/definition.ts";
import type { Reading, StateQuery } from "../../engine/define/reading.ts";
import { typed } from "../../engine/define/schema.ts";
import { earliest, type LagOptions, readingOf, readPages } from "../read-list.ts";
import { listOf, maybeTextAt, numberAt, textAt } from "../service.ts";
import { classifyGithub, withRetryAfter } from "./github-limit.ts";

/** An Octokit, by structure. Its retries are owned where it is made. */
export interface OctokitLike {
  request(route: string, parameters: Record<string, unknown>): Promise<{ readonly data: unknown }>;
}

/** How GitHub is reached. */
export interface GithubAccess extends LagOptions {
  readonly octokit: OctokitLike;
}

/** An issue or a pull request that is there. */
export interface GithubItem {
  readonly nodeId: string;
  readonly number: number;
  readonly url: string;
}

/** Makes it, with the key at the end of its body. */
async function createItem(
  octokit: OctokitLike,
  route: string,
  { body, ...args }: { readonly body?: string },
  { key, signal }: AttemptContext,
): Promise<GithubItem> {
  // Once: what the answer to a second request says of the first is nothing.
  const request = { signal, retries: 0 };
  const asked = { ...args, body: markText(body, key), request };
  const { data } = await octokit.request(route, asked).catch((error: unknown) => {
    throw withRetryAfter(error);
  });
  return itemOf(data);
}

const PAGE = 100;
const NEWEST_FIRST = { state: "all", sort: "created", direction: "desc", per_page: PAGE };

/** Finds the key in what was made since the first send. */
async function findItem(
  { octokit, windowCoversLag }: GithubAccess,
  route: string,
  filter: object,
  { keys, firstSentAt, signal }: StateQuery<unknown>,
): Promise<Reading<GithubItem>> {
  const isOlder = (item: unknown) => Date.parse(textAt(item, "created_at")) < earliest(firstSentAt);
  const list = await readPages<unknown, number>(
    async (page = 1) => {
      const asked = { ...filter, ...NEWEST_FIRST, page, request: { signal } };
      const items = listOf((await octokit.request(route, asked)).data);
      const isLast = items.length < PAGE || isOlder(items.at(-1));
      return { items, next: isLast ? undefined : page + 1 };
    },
    // What is older may quote the mark, but was not made by this operation.
    (item) => isMarked(maybeTextAt(item, "body"), keys) && !isOlder(item),
  );
  return readingOf(list, itemOf, nodeIdOf, { lags: !windowCoversLag });
}

const nodeIdOf = ({ nodeId }: GithubItem): string => nodeId;

const itemOf = (data: unknown): GithubItem => ({
  nodeId: textAt(data, "node_id"),
  number: numberAt(data, "number"),
  url: textAt(data, "html_url"),
});

const OPENING = "<!-- holdfire:";

/** The text with the mark below it. A mark that was in the text already is one no longer. */
function markText(text: string | undefined, key: string): string {
  const plain = (text ?? "").replaceAll(OPENING, "<!-- holdfire ");
  return `${plain}\n\n${markOf(key)}`;
}

/** Whether the text carries the mark of one of these keys. */
const isMarked = (text: string | undefined, keys: readonly string[]): boolean =>
  text !== undefined && keys.some((key) => text.includes(markOf(key)));

const markOf = (key: string): string => `${OPENING}${key} -->`;

/** Body and labels are no part of the intent. */
export interface GithubIssueArguments {
  readonly owner: string;
  readonly repo: string;
  readonly title: string;
  readonly body?: string;
  readonly labels?: readonly string[];
}

/** An issue of this title is wanted once. */
export type GithubIssueIntent = Pick<GithubIssueArguments, "owner" | "repo" | "title">;

/** An issue. `octokit` makes it and finds it. */
export function githubIssue(
  access: GithubAccess,
): ToolWithInput<GithubIssueArguments, GithubIssueIntent, GithubItem> {
  const { octokit, windowCoversLag } = access;
  const own = { octokit, windowCoversLag };
  return {
    name: "github_issue",
    kind: "write",
    service: "github",
    input: typed<GithubIssueArguments>(),
    intent: ({ owner, repo, title }) => ({ owner, repo, title }),
    run: (args, context) => createItem(octokit, "POST /repos/{owner}/{repo}/issues", args, context),
    readState: (query) => {
      const { owner, repo } = query.intent;
      // An issue was changed last when it was made, or later: this leaves none of ours out.
      const since = new Date(earliest(query.firstSentAt)).toISOString();
      return findItem(own, "GET /repos/{owner}/{repo}/issues", { owner, repo, since }, query);
    },
    classify: classifyGithub,
    effect: { id: nodeIdOf },
  };
}

/** Title and body are no part of the intent. */
export interface GithubPullArguments {
  readonly owner: string;
  readonly repo: string;
  /** A branch, or `user:branch` of a fork. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body?: string;
  readonly draft?: boolean;
}

/** A branch is asked to be merged once. */
export type GithubPullIntent = Pick<GithubPullArguments, "owner" | "repo" | "head" | "base">;

/**
 * A pull request. `octokit` makes it and finds it.
 *
 * GitHub refuses a second open one for the same branches. That is not documented as a promise, so
 * nothing is sent again on the strength of it.
 */
export function githubPull(
  access: GithubAccess,
): ToolWithInput<GithubPullArguments, GithubPullIntent, GithubItem> {
  const { octokit, windowCoversLag } = access;
  const own = { octokit, windowCoversLag };
  return {
    name: "github_pull",
    kind: "write",
    service: "github",
    input: typed<GithubPullArguments>(),
    intent: ({ owner, repo, head, base }) => ({ owner, repo, head, base }),
    resource: ({ owner, repo, head }) => `github/${owner}/${repo}/${head}`,
    run: (args, context) => createItem(octokit, "POST /repos/{owner}/{repo}/pulls", args, context),
    readState: (query) => {
      const { owner, repo, base } = query.intent;
      const head = query.intent.head.includes(":")
        ? query.intent.head
        : `${owner}:${query.intent.head}`;
      return findItem(own, "GET /repos/{owner}/{repo}/pulls", { owner, repo, base, head }, query);
    },
    classify: classifyGithub,
    effect: { id: nodeIdOf },
  };
}
