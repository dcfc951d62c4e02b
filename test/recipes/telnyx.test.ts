import { expect, test } from "vitest";
import { telnyxMessage } from "../../src/recipes/messages/telnyx.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

/** Telnyx as documented: only successes are replayed, and another body under a key is 422. */
async function openTelnyx(status = "queued") {
  let count = 0;
  let declined = false;
  const fake = await startFake(
    rememberKeys({
      keyOf: ({ headers }) => `${headers["idempotency-key"]}`,
      make: () => {
        if (declined) return { status: 403, body: { errors: [{ code: "10010", title: "No" }] } };
        count += 1;
        return { body: { data: { id: `msg-${count}`, to: [{ status }] } } };
      },
      keeps: ({ status: answered = 200 }) => answered < 300,
      mismatch: { status: 422, body: { errors: [{ code: "10015", title: "Other request" }] } },
    }),
  );
  const access = { authorization: "Bearer x", baseUrl: fake.url };
  const decline = () => {
    declined = true;
  };
  return { fake, access, effects: () => count, decline };
}

const ARGS = { from: "+15551230000", to: "+15559870000", text: "Your code is 7." };

recipeContract("telnyxMessage", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const { access, ...rest } = await openTelnyx();
    return { ...rest, definition: telnyxMessage({ ...access, keyDeclared: true }), args: ARGS };
  },
});

test("where the key is not declared it is sent, and trusted with nothing", async () => {
  const stage = openStage();
  const { fake, access, effects } = await openTelnyx();
  fake.lose("after");
  const outcome = await stage.call(stage.tool(telnyxMessage(access)), ARGS);
  expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
  expect(fake.writes.map(({ headers }) => headers["idempotency-key"])).toEqual([outcome.key]);
  expect(effects()).toBe(1);
});

test("a message that did not go out is not called done", async () => {
  const stage = openStage();
  const { access } = await openTelnyx("sending_failed");
  expect((await stage.call(stage.tool(telnyxMessage(access)), ARGS)).status).toBe("unknown");
});

test.each([true, false])(
  "422 may be about the key: it proves nothing (declared: %s)",
  async (keyDeclared) => {
    const stage = openStage();
    const fake = await startFake(() => ({ status: 422, body: { errors: [{ code: "10015" }] } }));
    const access = { authorization: "Bearer x", baseUrl: fake.url, keyDeclared };
    const outcome = await stage.call(stage.tool(telnyxMessage(access)), ARGS);
    expect(outcome.status).toBe("unknown");
  },
);
