/**
 * A Linear issue, whose id is made from the key: two issues cannot have one id, so a request that is sent
 * again cannot make a second. That Linear takes an id from the client, and refuses it a second time, is not in its documentation;
 * two projects have checked it on the live service.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { typed } from "../../engine/define/schema.ts";
import { HttpAnswerError } from "../../http-tool/request.ts";
import { peek } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";
import { readingOf } from "../read-list.ts";
import { listAt, type Service, type ServiceAccess, serviceAt, textAt } from "../service.ts";

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
  const service = serviceAt(access, "https://api.linear.app");
  return {
    name: "linear_issue",
    kind: "write",
    service: "linear",
    input: typed<LinearIssueArguments>(),
    intent: ({ teamId, title }) => ({ teamId, title }),
    // The issue's own id is made from the key, and Linear accepts an id once.
    precondition: "given",
    via: "http",
    // An id that is taken is answered 400: `run` looks whether the issue is ours, and throws if it is not.
    accepts: [400],
    // The look for an issue of this id is a POST, too.
    ignores: [({ body }) => body?.startsWith(`{"query":${JSON.stringify(FIND)}`) === true],
    run: async ({ teamId, title, description }, { key, signal }) => {
      const input = { id: linearId(key), teamId, title, description };
      try {
        const data = await ask(service, CREATE, { input }, signal);
        return issueOf(peek(peek(data, "issueCreate"), "issue"));
      } catch (error) {
        if (!INVALID_INPUT.has(peek(error, "code"))) throw error;
        // An id that is taken is told with the same code as a wrong team: which of them it is, the state says.
        const found = await find(service, [input.id], signal).catch(() => undefined);
        if (found?.length) return issueOf(found[0]);
        throw Object.assign(error as Error, { idIsFree: found !== undefined });
      }
    },
    readState: async ({ keys, signal }) => {
      const found = await find(service, keys.map(linearId), signal);
      return readingOf({ found, complete: true }, issueOf, ({ id }) => id);
    },
    classify,
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
  service: Service,
  query: string,
  variables: object,
  signal: AbortSignal,
): Promise<unknown> {
  const request = { method: "POST", path: "/graphql", json: { query, variables }, signal } as const;
  const answer = await service.call(request, codeOf);
  if (peek(answer.body, "errors") !== undefined)
    throw new HttpAnswerError(answer, codeOf(answer.body));
  return peek(answer.body, "data");
}

const find = async (
  service: Service,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly unknown[]> =>
  listAt(peek(await ask(service, FIND, { ids }, signal), "issues"), "nodes");

/** Linear's SDK reads `type` (linear/linear, packages/sdk/src/error.ts); answers without one carry `code` alone. */
function codeOf(body: unknown): unknown {
  const about = peek(peek(peek(body, "errors"), 0), "extensions");
  return peek(about, "type") ?? peek(about, "code");
}

const INVALID_INPUT: ReadonlySet<unknown> = new Set(["invalid input", "INPUT_ERROR"]);

/** Invalid input proves nothing where the state could not be read: the id may be taken, and by us. */
function classify(error: unknown): Verdict | undefined {
  const code = peek(error, "code");
  // An error beside the issue is about a field that was asked for.
  if (peek(peek(peek(peek(error, "body"), "data"), "issueCreate"), "issue")) return "unknown";
  if (!INVALID_INPUT.has(code)) return VERDICTS.get(code);
  return peek(error, "idIsFree") === true ? "rejected" : "unknown";
}

/** A limit is HTTP 400 with `code: "RATELIMITED"`; `type: "ratelimited"` is there in some answers only. */
const VERDICTS: ReadonlyMap<unknown, Verdict> = new Map<unknown, Verdict>([
  ["authentication error", "rejected"],
  ["forbidden", "rejected"],
  ["feature not accessible", "rejected"],
  ["usage limit exceeded", "rejected"],
  ["ratelimited", "refused"],
  ["RATELIMITED", "refused"],
]);
