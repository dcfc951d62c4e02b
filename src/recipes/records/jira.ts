/**
 * A Jira Cloud issue, found again by a label.
 *
 * An entity property would not be seen by people, but can be searched only where an app has it indexed. A
 * label can be searched everywhere. What goes into the query is our own label and nothing else.
 *
 * The search lags by seconds to minutes, without a bound: developer.atlassian.com/cloud/jira/platform/search-and-reconcile. To have it
 * reconciled needs the ids of the issues, which are not known here.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { peek } from "../../lang/peek.ts";
import { type LagOptions, readingOf, readPages } from "../read-list.ts";
import { listAt, maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** Description and labels are no part of the intent. */
export interface JiraIssueArguments {
  /** The key of the project, e.g. `ENG`. */
  readonly project: string;
  /** The name of the type, e.g. `Task`. */
  readonly issueType: string;
  readonly summary: string;
  /** Plain text. */
  readonly description?: string;
  readonly labels?: readonly string[];
}

/** An issue of this summary is wanted once. */
export type JiraIssueIntent = Pick<JiraIssueArguments, "project" | "issueType" | "summary">;

/** An issue that is there. */
export interface JiraIssue {
  readonly id: string;
  readonly key: string;
}

/** An issue. `baseUrl` is your site, e.g. `https://acme.atlassian.net`. */
export function jiraIssue(
  access: ServiceAccess & LagOptions & { readonly baseUrl: string },
): ToolWithInput<JiraIssueArguments, JiraIssueIntent, JiraIssue> {
  const lags = !access.windowCoversLag;
  const service = serviceAt(access, access.baseUrl);
  return service.tool({
    name: "jira_issue",
    service: "jira",
    intent: ({ project, issueType, summary }) => ({ project, issueType, summary }),
    path: "/rest/api/3/issue",
    body: ({ project, issueType, summary, description, labels = [] }, { key }) => ({
      fields: {
        project: { key: project },
        issuetype: { name: issueType },
        summary,
        labels: [...labels.filter((label) => !label.startsWith(PREFIX)), PREFIX + key],
        ...(description && { description: documentOf(description) }),
      },
    }),
    result: issueOf,
    readState: async ({ keys, signal }) => {
      const labels = keys.map((key) => PREFIX + key);
      const jql = `labels in (${labels.map((label) => `"${label}"`).join(", ")})`;
      const list = await readPages<unknown, string>(
        async (nextPageToken) => {
          const json = { jql, fields: ["labels"], maxResults: 50, nextPageToken };
          const request = { method: "POST", path: "/rest/api/3/search/jql", json, signal } as const;
          const { body } = await service.call(request);
          return { items: listAt(body, "issues"), next: maybeTextAt(body, "nextPageToken") };
        },
        (issue) =>
          listAt(peek(issue, "fields"), "labels").some((label) => labels.includes(`${label}`)),
      );
      return readingOf(list, issueOf, idOf, { lags });
    },
    effect: { id: idOf },
  });
}

const PREFIX = "holdfire-";

const idOf = ({ id }: JiraIssue): string => id;

const issueOf = (issue: unknown): JiraIssue => ({
  id: textAt(issue, "id"),
  key: textAt(issue, "key"),
});

/** Jira's own format for text, one paragraph. */
const documentOf = (text: string): object => ({
  type: "doc",
  version: 1,
  content: [{ type: "paragraph", content: [{ type: "text", text }] }],
});
