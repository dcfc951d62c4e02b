/**
 * A program goes on with its messages as soon as it has asked, while the ledger is still being read: what is sent is what was
 * asked, so that no answer is recorded under another question.
 */

import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type OwnOptions, ownRetries } from "../../../src/integrations/openai/index.ts";
import type { Store } from "../../../src/ledger/store.ts";
import { openStage, type Stage } from "../shared/owned.ts";

const MODEL = "gpt-test";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

/** A client of a process of its own, whose program does this while its ledger is read. */
function recorder(whileRead: () => void = () => {}, options: OwnOptions = { record: true }) {
  const store: Store = {
    ...stage.store,
    read(...args) {
      whileRead();
      return stage.store.read(...args);
    },
  };
  const hf = stage.another({ store });
  const client = ownRetries(new OpenAI({ baseURL: stage.server.openai, apiKey: "k" }), hf, options);
  return {
    client,
    inJob: <T>(run: () => Promise<T>): Promise<T> => stage.pass(hf.scope("job", run)),
  };
}

const asking = (content: string) => ({ role: "user" as const, content });

describe("a recorded call whose body goes on", () => {
  test("is sent as it was, also where it says its own JSON, or asks for it", async () => {
    let question = "1+1?";
    const own = { toJSON: () => asking(question) };
    const asked = {
      model: MODEL,
      get messages() {
        return [own, asking(question)];
      },
    };
    const { client, inJob } = recorder(() => {
      question = "2+2?";
    });
    await inJob(async () => client.chat.completions.create(asked as never));
    const [arrival] = stage.server.arrivals;
    expect(arrival?.body).toEqual({ model: MODEL, messages: [asking("1+1?"), asking("1+1?")] });
  });

  test("is recorded, also where it is frozen", async () => {
    const messages = Object.freeze([Object.freeze(asking("1+1?"))]);
    for (let run = 0; run < 2; run += 1) {
      const { client, inJob } = recorder();
      const asked = Object.freeze({ model: MODEL, messages: messages as never });
      await inJob(async () => client.chat.completions.create(asked));
    }
    expect(stage.server.arrivals).toHaveLength(1);
  });

  test.each<[string, (messages: { content: string }[]) => void]>([
    ["gets another message", (messages) => messages.push(asking("and 2+2?"))],
    ["has its message rewritten", ([first]) => Object.assign(first ?? {}, { content: "2+2?" })],
  ])("%s, is sent as it was asked", async (_, change) => {
    const messages = [asking("1+1?")];
    const first = recorder(() => change(messages));
    const ask = ({ client }: typeof first, of: typeof messages) =>
      client.chat.completions.create({ model: MODEL, messages: of });
    const answer = await first.inJob(() => ask(first, messages));
    expect(messages).not.toEqual([asking("1+1?")]);
    const rerun = recorder();
    expect(await rerun.inJob(() => ask(rerun, [asking("1+1?")]))).toEqual(answer);
    expect(stage.server.arrivals.map(({ body }) => body?.messages)).toEqual([[asking("1+1?")]]);
  });

  test("is sent so by each attempt", async () => {
    stage.server.script({ act: "status", status: 503 });
    const messages = [asking("1+1?")];
    const { client, inJob } = recorder();
    await inJob(async () => {
      const call = client.chat.completions.create({ model: MODEL, messages });
      stage.server.onArrival(() => messages.push(asking("and 2+2?")));
      await call;
    });
    const sent = stage.server.arrivals.map(({ body }) => body?.messages);
    expect(sent).toEqual([[asking("1+1?")], [asking("1+1?")]]);
  });

  test.each<[string, unknown]>([
    ["a date", new Date(0)],
    ["an object of a class", new URL("https://a.example/")],
    ["what says its own JSON", { toJSON: () => ({ own: "words" }) }],
    ["what JSON leaves out", { fn: () => 1, none: undefined, list: [undefined, () => 1] }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
  ])("holds %s: that is sent as JSON has it", async (_, value) => {
    const { client, inJob } = recorder();
    const body = { model: MODEL, messages: [asking("Hi")], metadata: { value } };
    await inJob(async () => client.chat.completions.create(body as never));
    expect(stage.server.arrivals[0]?.body).toEqual(JSON.parse(JSON.stringify(body)));
  });

  test("keeps the parser that the SDK has hidden in it", async () => {
    const text = '{"sum":2,"more":"words"}';
    stage.server.script({ act: "say", saying: { text } });
    const format = zodTextFormat(z.object({ sum: z.number() }), "sum");
    for (let run = 0; run < 2; run += 1) {
      const { client, inJob } = recorder();
      const asked = { model: MODEL, input: "1+1?", text: { format } };
      const { output_parsed } = await inJob(async () => client.responses.parse(asked));
      expect(output_parsed).toEqual({ sum: 2 });
    }
    expect(stage.server.arrivals).toHaveLength(1);
  });
});

test.each<[string, (first: string) => [OpenAI.RequestOptions["headers"], (next: string) => void]]>([
  [
    "a record",
    (first) => {
      const headers = { "x-tenant": first };
      return [headers, (next) => Object.assign(headers, { "x-tenant": next })];
    },
  ],
  [
    "rows",
    (first) => {
      const row: [string, string] = ["x-tenant", first];
      return [[row], (next) => row.splice(1, 1, next)];
    },
  ],
  [
    "Headers",
    (first) => {
      const headers = new Headers({ "x-tenant": first });
      return [headers, (next) => headers.set("x-tenant", next)];
    },
  ],
])("headers that are used again, %s, are sent as they were given", async (_, made) => {
  stage.server.script({ act: "status", status: 503 });
  const [headers, again] = made("ana");
  const { client, inJob } = recorder(() => again("eve"));
  await inJob(async () => client.responses.create({ model: MODEL, input: "Hi" }, { headers }));
  const tenants = stage.server.arrivals.map((arrival) => arrival.headers["x-tenant"]);
  expect(tenants).toEqual(["ana", "ana"]);
});
