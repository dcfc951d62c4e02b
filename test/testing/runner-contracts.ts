/**
 * Both contracts under node:test, as a program that `node --test` runs. One store is broken on purpose where the
 * first argument says so.
 */
import { describe, test } from "node:test";
import { memoryStore } from "../../src/stores/memory.ts";
import { adapterContract, storeContract } from "../../src/testing/index.ts";

const runner = { describe, test };

storeContract("memory", {
  runner,
  open: ({ now }) => {
    const store = memoryStore({ now });
    if (process.env.BROKEN_STORE === undefined) return store;
    return { ...store, ownerOf: async () => undefined };
  },
});

adapterContract("direct", {
  runner,
  async drive({ hf, definition, call }) {
    const { scope, signal, toolCallId } = call;
    const options = { scope, signal, aliases: [toolCallId] };
    return {
      text: JSON.stringify(await hf.tool(definition).reply(JSON.parse(call.args), options)),
    };
  },
});
