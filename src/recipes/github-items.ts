/**
 * What the GitHub recipes share. GitHub knows no idempotency key, so the key is put into the body as a
 * comment that is not shown, and looked for in the newest items of the repository's list.
 *
 * By list and never by search: the search index runs behind.
 *
 * @module
 */

import type { Reading } from "../engine/define/reading.ts";
import { listOf, maybeTextAt, numberAt, textAt } from "./fields.ts";
import { earliest, lookThrough, readingOf } from "./look.ts";
import { isMarked, markText } from "./marker.ts";

/** An Octokit, by structure. Its retries are owned where it is made. */
export interface OctokitLike {
  request(route: string, parameters: Record<string, unknown>): Promise<{ readonly data: unknown }>;
}

/** An issue or a pull request that is there. */
export interface GithubItem {
  readonly nodeId: string;
  readonly number: number;
  readonly url: string;
}

export interface Making {
  readonly route: string;
  readonly args: object;
  readonly body: string | undefined;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** Makes it, with the key at the end of its body. */
export async function makeItem(octokit: OctokitLike, making: Making): Promise<GithubItem> {
  const { route, args, key, signal } = making;
  const body = markText(making.body, key);
  return itemOf((await octokit.request(route, { ...args, body, request: { signal } })).data);
}

export interface Finding {
  readonly route: string;
  readonly filter: object;
  readonly keys: readonly string[];
  readonly firstSentAt: number;
  readonly signal: AbortSignal;
}

const PAGE = 100;
const NEWEST_FIRST = { state: "all", sort: "created", direction: "desc", per_page: PAGE };

/** Looks for the key in what was made since the first send. */
export async function findItem(
  octokit: OctokitLike,
  { route, filter, keys, firstSentAt, signal }: Finding,
): Promise<Reading<GithubItem>> {
  const isOlder = (item: unknown) => Date.parse(textAt(item, "created_at")) < earliest(firstSentAt);
  const looked = await lookThrough<unknown, number>(
    async (page = 1) => {
      const asked = { ...filter, ...NEWEST_FIRST, page, request: { signal } };
      const items = listOf((await octokit.request(route, asked)).data);
      const isLast = items.length < PAGE || isOlder(items.at(-1));
      return { items, next: isLast ? undefined : page + 1 };
    },
    // What is older may quote the mark, but was not made by this operation.
    (item) => isMarked(maybeTextAt(item, "body"), keys) && !isOlder(item),
  );
  return readingOf(looked, itemOf, nodeIdOf);
}

export const nodeIdOf = ({ nodeId }: GithubItem): string => nodeId;

const itemOf = (data: unknown): GithubItem => ({
  nodeId: textAt(data, "node_id"),
  number: numberAt(data, "number"),
  url: textAt(data, "html_url"),
});
