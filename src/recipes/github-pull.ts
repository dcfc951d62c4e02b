/**
 * A GitHub pull request, found again by a comment in its body that is not shown.
 *
 * GitHub refuses a second open one for the same branches. That is not documented as a promise, so
 * nothing is sent again on the strength of it.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import type { RecipeFacts } from "./facts.ts";
import { findItem, type GithubItem, makeItem, nodeIdOf, type OctokitLike } from "./github-items.ts";

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

/** A pull request. `octokit` makes it and finds it. */
export function githubPull(options: {
  readonly octokit: OctokitLike;
}): ToolWithInput<GithubPullArguments, GithubPullIntent, GithubItem> {
  const { octokit } = options;
  return {
    name: "github_pull",
    kind: "write",
    service: "github",
    input: typed<GithubPullArguments>(),
    intent: ({ owner, repo, head, base }) => ({ owner, repo, head, base }),
    resource: ({ owner, repo, head }) => `github/${owner}/${repo}/${head}`,
    run: ({ body, ...args }, { key, signal }) =>
      makeItem(octokit, { route: "POST /repos/{owner}/{repo}/pulls", args, body, key, signal }),
    readState: ({ intent: { owner, repo, head, base }, keys, firstSentAt, signal }) =>
      findItem(octokit, {
        route: "GET /repos/{owner}/{repo}/pulls",
        filter: { owner, repo, base, head: head.includes(":") ? head : `${owner}:${head}` },
        keys,
        firstSentAt,
        signal,
      }),
    effect: { id: nodeIdOf },
  };
}

export const githubPullFacts: RecipeFacts = {
  keyGoes: "a hidden comment at the end of the body",
  window: "none",
  reads: "lists the pull requests of the branch, by the comment",
  cannotKnow: "how far the list runs behind; a pull request whose body or base was changed since",
};
