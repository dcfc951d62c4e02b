import { expect, test } from "vitest";
import { peek } from "../../src/lang/peek.ts";
import { zendeskTicket } from "../../src/recipes/records/zendesk.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

/** Zendesk as documented: `x-idempotency-lookup` tells hit or miss, another body under a key is 400, IdempotentRequestError. */
async function openZendesk() {
  const kept: { id: number; url: string; external_id: unknown }[] = [];
  let declined = false;
  const add = (external_id: unknown) => {
    const id = kept.length + 1;
    const ticket = { id, url: `https://acme.zendesk.com/api/v2/tickets/${id}.json`, external_id };
    kept.push(ticket);
    return ticket;
  };
  const create = rememberKeys({
    keyOf: ({ headers }) => `${headers["idempotency-key"]}`,
    make: ({ json }) =>
      declined
        ? { status: 422, body: { error: "RecordInvalid", description: "Record validation errors" } }
        : {
            status: 201,
            headers: { "x-idempotency-lookup": "miss" },
            body: { ticket: add(peek(json?.ticket, "external_id")) },
          },
    keeps: ({ status }) => status === 201,
    again: (answer) => ({ ...answer, headers: { "x-idempotency-lookup": "hit" } }),
    mismatch: { status: 400, body: { error: "IdempotentRequestError", description: "Another" } },
  });
  const fake = await startFake((request) => {
    if (request.method !== "GET") return create(request);
    const wanted = request.query.get("external_id");
    return { body: { tickets: kept.filter(({ external_id }) => external_id === wanted) } };
  });
  return {
    fake,
    kept,
    definition: zendeskTicket({ authorization: "Basic eDp5", baseUrl: fake.url }),
    effects: () => kept.length,
    makeForeign: () => void add("crm-7"),
    decline: () => {
      declined = true;
    },
  };
}

const ARGS = { subject: "Broken lamp", body: "It flickers.", priority: "low" } as const;

recipeContract("zendeskTicket", {
  licence: "keyed",
  says: true,
  open: async () => ({ ...(await openZendesk()), args: ARGS, reworded: { ...ARGS, body: "x" } }),
});

test("the ticket has the key as its external id, and the text as its comment", async () => {
  const stage = openStage();
  const { fake, kept, definition } = await openZendesk();
  const { key } = await stage.call(stage.tool(definition), ARGS);
  expect(kept[0]?.external_id).toBe(key);
  const ticket = fake.writes[0]?.json?.ticket;
  expect(ticket).toEqual({
    subject: "Broken lamp",
    priority: "low",
    comment: { body: "It flickers." },
    external_id: key,
  });
});
