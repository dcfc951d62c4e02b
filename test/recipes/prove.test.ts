/** The recipes' claims, put to the test as a user would in a sandbox. */
import { Octokit } from "octokit";
import { expect, test } from "vitest";
import { resendMail } from "../../src/recipes/messages/mail.ts";
import { githubIssue } from "../../src/recipes/records/github.ts";
import { proveTool } from "../../src/testing/prove-tool.ts";
import { type FakeAnswer, startFake } from "./fake-service.ts";

test("resendMail: the key is taken, and sent twice gives one mail", async () => {
  const answers = new Map<string, FakeAnswer>();
  const fake = await startFake(({ headers }) => {
    const key = `${headers["idempotency-key"]}`;
    const answer = answers.get(key) ?? { body: { id: `mail-${answers.size + 1}` } };
    answers.set(key, answer);
    return answer;
  });
  const at = (baseUrl: string) => resendMail({ authorization: "Bearer x", baseUrl });
  let count = 0;
  const proof = await proveTool(at(fake.url), {
    target: fake.url,
    connect: at,
    args: () => {
      count += 1;
      return { from: "a@acme.com", to: "b@acme.com", subject: `Invoice ${count}`, text: "Due." };
    },
    countEffects: (_, key) => (answers.has(key) ? 1 : 0),
  });
  expect(proof.text).toContain("all claims hold");
});

test("githubIssue: what was made is found, whether or not the reply came", async () => {
  const issues: object[] = [];
  let count = 0;
  const fake = await startFake(({ method, json }) => {
    if (method === "GET") return { body: issues };
    const number = issues.length + 1;
    const created_at = new Date().toISOString();
    const issue = { ...json, node_id: `I_${number}`, number, html_url: "https://x", created_at };
    issues.unshift(issue);
    return { status: 201, body: issue };
  });
  const at = (baseUrl: string) =>
    githubIssue({
      windowCoversLag: true,
      octokit: new Octokit({ baseUrl, retry: { enabled: false }, throttle: { enabled: false } }),
    });
  const proof = await proveTool(at(fake.url), {
    target: fake.url,
    connect: at,
    args: () => {
      count += 1;
      return { owner: "acme", repo: "app", title: `Bug ${count}` };
    },
  });
  expect(proof.text).toContain("all claims hold");
});
