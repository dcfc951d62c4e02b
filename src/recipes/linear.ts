/**
 * A Linear issue, whose id is made from the key: two issues cannot have one id, so a request that is sent
 * again cannot make a second.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { peek } from "../lang/peek.ts";
import type { Verdict } from "../ledger/record.ts";
import { readingOf } from "./read-list.ts";
import { answerError, callService, listAt, type ServiceAccess, textAt } from "./service.ts";

/** The description is no part of the intent. */
export interface LinearIssueArguments {
  readonly teamId: string;
  readonly title: string;
  readonly description?: string;
}

/** An issue of this title is wanted once. */
export type LinearIssueIntent = Pick<LinearIssueArguments, "teamId" | "title">;

/** An issue that is there. */
export interface LinearIssue {
  readonly id: string;
  readonly identifier: string;
  readonly url: string;
}

const CREATE =
  "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { id identifier url } } }";
const FIND =
  "query($ids: [ID!]!) { issues(filter: { id: { in: $ids } }, includeArchived: true) { nodes { id identifier url } } }";

/** An issue. `authorization` is an API key as it is, or `Bearer …`. */
export function linearIssue(
  access: ServiceAccess,
): ToolWithInput<LinearIssueArguments, LinearIssueIntent, LinearIssue> {
  return {
    name: "linear_issue",
    kind: "write",
    service: "linear",
    input: typed<LinearIssueArguments>(),
    intent: ({ teamId, title }) => ({ teamId, title }),
    // The issue's own id is made from the key, and Linear accepts an id once.
    precondition: "given",
    run: async ({ teamId, title, description }, { key, signal }) => {
      const input = { id: linearId(key), teamId, title, description };
      const data = await ask(access, CREATE, { input }, signal);
      return issueOf(peek(peek(data, "issueCreate"), "issue"));
    },
    readState: async ({ keys, signal }) => {
      const data = await ask(access, FIND, { ids: keys.map(linearId) }, signal);
      const found = listAt(peek(data, "issues"), "nodes");
      return readingOf({ found, complete: true }, issueOf, ({ id }) => id);
    },
    classify: (error) => VERDICTS.get(peek(error, "code")),
    effect: { id: ({ id }) => id },
  };
}

/** Linear wants version 4. Only the version differs, so two keys never give one id. */
const linearId = (key: string): string => `${key.slice(0, 14)}4${key.slice(15)}`;

const issueOf = (issue: unknown): LinearIssue => ({
  id: textAt(issue, "id"),
  identifier: textAt(issue, "identifier"),
  url: textAt(issue, "url"),
});

async function ask(
  access: ServiceAccess,
  query: string,
  variables: object,
  signal: AbortSignal,
): Promise<unknown> {
  const request = { method: "POST", path: "/graphql", json: { query, variables }, signal } as const;
  const answer = await callService(access, "https://api.linear.app", request, codeOf);
  if (peek(answer.body, "errors") !== undefined) throw answerError(answer, codeOf(answer.body));
  return peek(answer.body, "data");
}

const codeOf = (body: unknown): unknown =>
  peek(peek(peek(peek(body, "errors"), 0), "extensions"), "type");

/** "invalid input" is not among them: it may be said of an id that is taken, which may be by us. */
const VERDICTS: ReadonlyMap<unknown, Verdict> = new Map<unknown, Verdict>([
  ["authentication error", "rejected"],
  ["forbidden", "rejected"],
  ["feature not accessible", "rejected"],
  ["usage limit exceeded", "rejected"],
  ["ratelimited", "refused"],
]);
