/** Salesforce and HubSpot: a record is made by an upsert on a field that is the key. */
import { expect, test } from "vitest";
import { hubspotRecord } from "../../src/recipes/records/hubspot.ts";
import { salesforceRecord } from "../../src/recipes/records/salesforce.ts";
import { type FakeAnswer, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

/** Salesforce as documented: not matched 201, matched 200 with `created: false`, read by the same address. */
async function openSalesforce() {
  const kept = new Map<string, { Id: string; Holdfire_Key__c: string; fields: object }>();
  let declined = false;
  const fake = await startFake(({ method, path, json = {} }): FakeAnswer => {
    const [object, field, key = ""] = path.split("/").slice(-3);
    if (object !== "Case" || field !== "Holdfire_Key__c") return { status: 404, body: [] };
    const found = kept.get(key);
    if (method === "GET") {
      if (found) return { body: found };
      return { status: 404, body: [{ errorCode: "NOT_FOUND", message: "not there" }] };
    }
    if (declined) {
      return { status: 400, body: [{ errorCode: "REQUIRED_FIELD_MISSING", message: "missing" }] };
    }
    const Id = found?.Id ?? `500${kept.size + 1}`;
    kept.set(key, { Id, Holdfire_Key__c: key, fields: json });
    return { status: found ? 200 : 201, body: { id: Id, success: true, created: !found } };
  });
  return {
    fake,
    kept,
    definition: salesforceRecord({
      authorization: "Bearer x",
      baseUrl: fake.url,
      object: "Case",
      keyField: "Holdfire_Key__c",
    }),
    effects: () => kept.size,
    makeForeign: () =>
      void kept.set("another", { Id: "5009", Holdfire_Key__c: "another", fields: {} }),
    decline: () => {
      declined = true;
    },
  };
}

recipeContract("salesforceRecord", {
  licence: "absent",
  recognises: true,
  says: true,
  open: async () => ({
    ...(await openSalesforce()),
    args: { fields: { Subject: "Broken lamp" } },
  }),
});

/** HubSpot as documented: a batch of one answers with `results`; an input that is turned down is in a 207, with `errors`. */
async function openHubspot() {
  const kept = new Map<string, { id: string; properties: object }>();
  let declined = false;
  const fake = await startFake(({ method, path, query, json }): FakeAnswer => {
    if (method === "GET") {
      const found = kept.get(path.split("/").at(-1) ?? "");
      const isAsked = query.get("idProperty") === "holdfire_key";
      return found && isAsked ? { body: found } : { status: 404, body: { category: "NOT_FOUND" } };
    }
    const inputs = json?.inputs as readonly {
      id: string;
      idProperty: string;
      properties: object;
    }[];
    const input = inputs[0];
    if (!input || declined || input.idProperty !== "holdfire_key") {
      const errors = [{ status: "error", category: "VALIDATION_ERROR", message: "No stage" }];
      return { status: 207, body: { status: "COMPLETE", results: [], numErrors: 1, errors } };
    }
    const id = kept.get(input.id)?.id ?? `${kept.size + 1}`;
    const isNew = !kept.has(input.id);
    const record = { id, properties: { ...input.properties, holdfire_key: input.id } };
    kept.set(input.id, record);
    return { body: { status: "COMPLETE", results: [{ ...record, new: isNew }] } };
  });
  const access = { authorization: "Bearer x", baseUrl: fake.url };
  return {
    fake,
    kept,
    definition: hubspotRecord({ ...access, objectType: "deals", keyProperty: "holdfire_key" }),
    effects: () => kept.size,
    makeForeign: () => void kept.set("another", { id: "9", properties: {} }),
    decline: () => {
      declined = true;
    },
  };
}

recipeContract("hubspotRecord", {
  licence: "absent",
  recognises: true,
  says: true,
  open: async () => ({
    ...(await openHubspot()),
    args: { properties: { dealname: "Lamp" } },
  }),
});

test.each([
  ["Salesforce", openSalesforce, { fields: { Subject: "Lamp" } }],
  ["HubSpot", openHubspot, { properties: { dealname: "Lamp" } }],
])("%s: what people have changed is not written over after a lost reply", async (_, open, args) => {
  const stage = openStage();
  const { fake, definition } = await open();
  fake.lose("after");
  const tool = stage.tool({ ...definition, commitsWithinMs: 2_000 } as never);
  expect(await stage.call(tool, args as never)).toMatchObject({ status: "committed", attempts: 1 });
  expect(fake.writes.length).toBe(1);
});

test("a HubSpot record is not given another key by its properties", async () => {
  const { fake, definition } = await openHubspot();
  const tool = openStage().tool(definition);
  const args = { properties: { dealname: "Lamps", holdfire_key: "mine" } };
  await expect(tool.outcome(args, { scope: "s" })).rejects.toThrow("holdfire_key");
  expect(fake.writes).toHaveLength(0);
});
