/**
 * Ready rules for `@modelcontextprotocol/server-github`, the npm package, which has no hints.
 *
 * @module
 */

import { READ, type ReadWith, type ToolRules } from "../guard/rules.ts";

const PAGE = 100;
const REPOSITORY = { owner: "$intent.owner", repo: "$intent.repo" };
const NEWEST = { ...REPOSITORY, state: "all", sort: "created", direction: "desc", per_page: PAGE };

const newest = (tool: string): ReadWith => ({
  tool,
  arguments: NEWEST,
  match: { title: "$intent.title" },
  madeAt: "created_at",
  id: "id",
  pageSize: PAGE,
  newestFirst: true,
});

export const serverGithub: ToolRules = {
  create_issue: {
    kind: "write",
    about: ["owner", "repo"],
    readWith: newest("list_issues"),
    alsoDoes: ["notifies those who watch the repository"],
  },
  create_pull_request: {
    kind: "write",
    about: ["owner", "repo", "head"],
    readWith: newest("list_pull_requests"),
    alsoDoes: ["notifies those who watch the repository"],
  },
  merge_pull_request: {
    kind: "destructive",
    about: ["owner", "repo", "pull_number"],
    readWith: {
      tool: "get_pull_request",
      arguments: { ...REPOSITORY, pull_number: "$intent.pull_number" },
      single: true,
      match: { merged: true },
    },
  },
  add_issue_comment: { kind: "write", about: ["owner", "repo", "issue_number"] },
  create_pull_request_review: { kind: "write", about: ["owner", "repo", "pull_number"] },
  update_issue: { kind: "write", about: ["owner", "repo", "issue_number"] },
  update_pull_request_branch: { kind: "write", about: ["owner", "repo", "pull_number"] },
  create_or_update_file: { kind: "write", about: ["owner", "repo", "path"] },
  push_files: { kind: "write", about: ["owner", "repo", "branch"] },
  create_branch: { kind: "write", about: ["owner", "repo", "branch"] },
  create_repository: { kind: "write", about: ["name"] },
  fork_repository: { kind: "write", about: ["owner", "repo"] },
  get_file_contents: READ,
  get_issue: READ,
  get_pull_request: READ,
  get_pull_request_comments: READ,
  get_pull_request_files: READ,
  get_pull_request_reviews: READ,
  get_pull_request_status: READ,
  list_commits: READ,
  list_issues: READ,
  list_pull_requests: READ,
  search_code: READ,
  search_issues: READ,
  search_repositories: READ,
  search_users: READ,
};
