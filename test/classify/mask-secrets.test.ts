/** What may be a secret in an error's text is hidden; what a person needs to read it is not. */
import { describe, expect, test } from "vitest";
import { maskSecrets } from "../../src/classify/mask-secrets.ts";

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

describe("is hidden", () => {
  test.each([
    ["a query", "GET https://api.example/v1/pay?api_key=abc123 failed", "abc123"],
    ["the path of a webhook", "POST https://hooks.example/services/T0/B0/xYz failed", "xYz"],
    ["a password in an address", "connect postgres://app:hunter2@db.example:5432/app", "hunter2"],
    ["a bearer token", "401 for Authorization: Bearer abc123def", "abc123def"],
    ["a basic login", "header basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"],
    ["a key of a well-known service", "Incorrect API key: sk-proj-abc123def456", "abc123def456"],
    ["a key of Stripe", "No such key sk_live_51Habcdefghij", "51Habcdefghij"],
    ["a token", `token ${JWT} has expired`, "dozjgNryP4J3"],
    ["an assignment", "bad credentials: password=hunter, user=ana", "hunter"],
    ["a field of JSON", `refused {"client_secret": "short"}`, "short"],
    ["a long random word", "no session 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "9f86d08"],
    ["the number of a card", "4242 4242 4242 4242 was declined", "4242 4242 4242"],
  ])("%s", (_, text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret);
  });

  test("and the rest stays", () => {
    expect(maskSecrets("GET https://api.example/v1/pay?key=abc failed with 500")).toBe(
      "GET https://api.example/… failed with 500",
    );
    expect(maskSecrets("connect postgres://app:hunter2@db.example:5432")).toBe(
      "connect postgres://db.example:5432",
    );
  });

  test.each([
    ["with Bearer  abc123def failed", "with Bearer  [hidden] failed"],
    ["basic abcdefghijklmnopqrst failed", "basic [hidden] failed"],
    ["my-api-key=amount is wrong", "my-api-key=[hidden] is wrong"],
    ["my-auth-header: abc123 is wrong", "my-auth-header: [hidden] is wrong"],
    ['{"session_token" : "abc123"}', '{"session_token" : "[hidden]"}'],
    ["https://api.example?token=abc", "https://api.example/…"],
    ["https://api.example#abc", "https://api.example/…"],
    ["at https://[no-host]/abc", "at https://[hidden]"],
    ["card 4242-4242-4242-4242.", "card [hidden]."],
    ["the word abcdefghijklmnopqrstuvwxyz012345 is long", "the word [hidden] is long"],
  ])("%s", (text, told) => {
    expect(maskSecrets(text)).toBe(told);
  });

  test.each([
    ...["sk_", "pk_", "rk_", "whsec_", "gho_", "ghp_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    ...["glpat-", "xoxb-", "xoxp-", "xapp-", "shpat_", "shpss_", "npm_", "pypi-", "hf_", "dop_v1_"],
    ...["SG.", "re_", "key-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ"],
  ])("a key that begins with %s", (start) => {
    expect(maskSecrets(`refused ${start}1a2b3c4d5e6f`)).toBe("refused [hidden]");
  });
});

test.each([
  "amount is not defined",
  "connect ECONNREFUSED 127.0.0.1:5432",
  "STRIPE_SECRET_KEY is not set",
  "Missing required key: amount",
  "Your card was declined.",
  "No such payment_intent: 'pi_3MtwBwLkdIwHu7ix28a3tqPa'",
  "operation 550e8400-e29b-41d4-a716-446655440000 is not known",
  "The token has expired",
  'duplicate key value violates unique constraint "payouts_pkey"',
  "GET https://api.example failed",
  "author: user1234",
  "basic knowledge, token exchange",
  "basic abcdefghijklmnopqrs failed",
  "order 4242424242424242-a of 42424242424242424242 is late",
  "the word abcdefghijklmnopqrstuvwxyz01234 is short",
  "the word abcdefghijklmnopqrstuvwxyzabcdefghijkl has no digit",
  "the number 12345678.12345678.12345678.12345678 has no letter",
  "the task-1a2b3c4d5e6f is late",
])("is not hidden: %s", (text) => {
  expect(maskSecrets(text)).toBe(text);
});

test("a text that goes on and on is cut: no expression has much to search", () => {
  for (const part of ["a-", "key", "key=", "1 ", "bearer ", "https://", "sk_"]) {
    expect(maskSecrets(part.repeat(1_000_000)).length).toBeLessThan(5_000);
  }
});

test("an id in a longer word does not save that word", () => {
  const id = "550e8400-e29b-41d4-a716-446655440000";
  for (const word of [`${id}a`, `a${id}`]) expect(maskSecrets(word)).toBe("[hidden]");
});
