/**
 * A GitHub issue, found again by a comment in its body that is not shown.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import type { RecipeFacts } from "./facts.ts";
import { findItem, type GithubItem, makeItem, nodeIdOf, type OctokitLike } from "./github-items.ts";
import { earliest } from "./look.ts";

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
export function githubIssue(options: {
  readonly octokit: OctokitLike;
}): ToolWithInput<GithubIssueArguments, GithubIssueIntent, GithubItem> {
  const { octokit } = options;
  return {
    name: "github_issue",
    kind: "write",
    service: "github",
    input: typed<GithubIssueArguments>(),
    intent: ({ owner, repo, title }) => ({ owner, repo, title }),
    run: ({ body, ...args }, { key, signal }) =>
      makeItem(octokit, { route: "POST /repos/{owner}/{repo}/issues", args, body, key, signal }),
    readState: ({ intent: { owner, repo }, keys, firstSentAt, signal }) =>
      findItem(octokit, {
        route: "GET /repos/{owner}/{repo}/issues",
        // An issue was changed last when it was made, or later: this leaves none of ours out.
        filter: { owner, repo, since: new Date(earliest(firstSentAt)).toISOString() },
        keys,
        firstSentAt,
        signal,
      }),
    effect: { id: nodeIdOf },
  };
}

export const githubIssueFacts: RecipeFacts = {
  keyGoes: "a hidden comment at the end of the body",
  window: "none",
  reads: "lists the newest issues of the repository, by the comment",
  cannotKnow:
    "how far the list runs behind; an issue that was deleted, moved, or whose body was rewritten",
};
