/**
 * Ready rules for `github/github-mcp-server`, GitHub's own. Its hints say which tools read.
 *
 * @module
 */

import type { ToolRules } from "../guard/rules.ts";

const PAGE = 100;
const REPOSITORY = { owner: "$intent.owner", repo: "$intent.repo" };
const MADE = { madeAt: "created_at", pageSize: PAGE } as const;

export const github: ToolRules = {
  issue_write: {
    kind: "write",
    about: ["owner", "repo"],
    readWith: {
      // What an update has changed is in no list of new issues.
      when: { method: "create" },
      tool: "list_issues",
      arguments: { ...REPOSITORY, orderBy: "CREATED_AT", direction: "DESC", perPage: PAGE },
      items: "issues",
      match: { title: "$intent.title" },
      ...MADE,
      newestFirst: true,
    },
    alsoDoes: ["notifies those who watch the repository"],
  },
  add_issue_comment: {
    kind: "write",
    about: ["owner", "repo", "issue_number"],
    readWith: {
      tool: "issue_read",
      arguments: {
        ...REPOSITORY,
        method: "get_comments",
        issue_number: "$intent.issue_number",
        perPage: PAGE,
      },
      match: { body: "$intent.body" },
      ...MADE,
    },
  },
  create_pull_request: {
    kind: "write",
    about: ["owner", "repo", "head"],
    readWith: {
      tool: "list_pull_requests",
      arguments: {
        ...REPOSITORY,
        state: "all",
        sort: "created",
        direction: "desc",
        perPage: PAGE,
      },
      match: { title: "$intent.title" },
      ...MADE,
      newestFirst: true,
    },
    alsoDoes: ["notifies those who watch the repository"],
  },
  merge_pull_request: { kind: "destructive", about: ["owner", "repo", "pullNumber"] },
  create_or_update_file: { kind: "write", about: ["owner", "repo", "path"] },
  push_files: { kind: "write", about: ["owner", "repo", "branch"] },
  create_branch: { kind: "write", about: ["owner", "repo", "branch"] },
  delete_file: { kind: "destructive", about: ["owner", "repo", "path"] },
};
