import { describe, expect, test } from "vitest";
import type { CallOptions } from "../../src/engine/define/definition.ts";
import {
  type AdapterCall,
  type AdapterContractOptions,
  adapterContract,
  adapterScenarios,
  handedScenarios,
} from "../../src/testing/adapter-contract.ts";

type Drive = AdapterContractOptions["drive"];

/** The thinnest adapter there is; the bad ones below differ from it in one thing. */
const direct =
  (options: (call: AdapterCall) => CallOptions): Drive =>
  async ({ hf, definition, call }) => {
    const reply = await hf.tool(definition).reply(JSON.parse(call.args), options(call));
    return { text: JSON.stringify(reply) };
  };

const good = direct(({ scope, signal, toolCallId }) => ({ scope, signal, aliases: [toolCallId] }));

adapterContract("direct", {
  drive: good,
  hand: ({ hf, definition }) => {
    const pay = hf.tool(definition);
    return ({ args, scope }) => pay.reply(args, { scope });
  },
});

const deaf = direct(({ scope, toolCallId }) => ({ scope, aliases: [toolCallId] }));

adapterContract("of a framework that cannot be stopped", {
  drive: deaf,
  capabilities: { abort: false },
});

const firstWords = (name: string): string => name.split(/[:,]/)[0] ?? name;

/** The scenarios that a bad adapter fails. */
async function failed(drive: Drive): Promise<readonly string[]> {
  const runs = await Promise.allSettled(adapterScenarios.map(({ run }) => run({ drive })));
  return adapterScenarios
    .filter((_, at) => runs[at]?.status === "rejected")
    .map(({ name }) => firstWords(name));
}

const READ = "a read is made each time";

describe("the contract bites", () => {
  test("an adapter that calls run by itself", async () => {
    const unguarded: Drive = async ({ definition, call }) => {
      const args = JSON.parse(call.args);
      const signal = call.signal ?? new AbortController().signal;
      const key = call.toolCallId;
      const data = await definition.run(args, {
        key,
        signal,
        attempt: 1,
        precondition: undefined,
        fetch: globalThis.fetch,
      });
      const envelope = { ok: true, outcome: "committed", effect: "created", replayed: false, data };
      return { text: JSON.stringify({ ...envelope, message: "Done." }) };
    };
    expect(await failed(unguarded)).toEqual(
      adapterScenarios
        .map(({ name }) => firstWords(name))
        // One undisturbed call is all it can do, or a read, which is made each time anyway.
        .filter((name) => !["answered", "abort before the send", READ].includes(name)),
    );
  });

  test("an adapter that takes every tool for a write", async () => {
    const drive: Drive = async ({ hf, definition, call: { args, scope, signal } }) => {
      const reply = await hf.tool({ ...definition, kind: "write" }).reply(JSON.parse(args), {
        scope,
        signal,
      });
      return { text: JSON.stringify(reply) };
    };
    expect(await failed(drive)).toContain(READ);
  });

  test("an adapter that puts the tool-call id into the scope", async () => {
    const drive = direct(({ scope, signal, toolCallId }) => ({
      scope: `${scope}/${toolCallId}`,
      signal,
      aliases: [toolCallId],
    }));
    expect(await failed(drive)).toEqual([
      "refused",
      "tool-call id changed",
      "arguments reordered or reworded",
      "abort after the send",
      "unknown",
      "parallel identical calls",
      "process restart",
      "process restart",
    ]);
  });

  test("an adapter that takes one scope for all", async () => {
    const drive = direct(({ signal, toolCallId }) => ({
      scope: "always",
      signal,
      aliases: [toolCallId],
    }));
    expect(await failed(drive)).toEqual(["another intent"]);
  });

  test("an adapter that does not pass the signal on", async () => {
    expect(await failed(deaf)).toEqual(["abort before the send", "abort after the send"]);
  }, 15_000);

  test("an adapter that forgets the tool-call id", async () => {
    const drive = direct(({ scope, signal }) => ({ scope, signal }));
    expect(await failed(drive)).toEqual(["the tool-call id is kept beside the operation"]);
  });

  test("a framework that calls again when it does not like the answer", async () => {
    const drive: Drive = async (setup) => {
      const first = await good(setup);
      return JSON.parse(first.text).ok ? first : good(setup);
    };
    expect(await failed(drive)).toEqual(["SDK retries are off"]);
  });

  test("an adapter that shows the model the data alone", async () => {
    const drive: Drive = async (setup) => {
      const { text } = await good(setup);
      return { text: JSON.stringify(JSON.parse(text).data ?? {}) };
    };
    expect((await failed(drive)).length).toBeGreaterThan(12);
  });

  test("an adapter that waits before it reads what it was given", async () => {
    const late: AdapterContractOptions["hand"] = ({ hf, definition }) => {
      const pay = hf.tool(definition);
      return async ({ args, messages, scope }) => {
        await undefined;
        return pay.reply(args, { scope: `${scope}/${messages.length}` });
      };
    };
    const runs = await Promise.allSettled(
      handedScenarios.map(({ run }) => run({ drive: good, hand: late })),
    );
    expect(runs.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  });

  test("an adapter that throws what the model should read", async () => {
    const drive: Drive = async ({ hf, definition, call }) => {
      const { scope, signal, toolCallId } = call;
      const tool = hf.tool(definition);
      await tool(JSON.parse(call.args), { scope, signal, aliases: [toolCallId] });
      return good({ hf, definition, call });
    };
    expect(await failed(drive)).toEqual(expect.arrayContaining(["refused", "unknown"]));
  });
});
