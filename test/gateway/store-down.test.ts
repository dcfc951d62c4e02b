/** The ledger stops answering after a call has reached the server. */
import { expect, test } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, startHost } from "./world.ts";

const newFolder = temporaryFolder();

/** A store whose methods fail while `isDown` says so. */
const failing = (store: Store, isDown: () => boolean): Store =>
  new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function" || name === "close") return value;
      return (...args: unknown[]) =>
        isDown() ? Promise.reject(new Error("gone")) : Reflect.apply(value, target, args);
    },
  });

test("a call that was sent, and whose outcome cannot be looked up, is told as unknown and not as not sent", async () => {
  const world = newWorld(newFolder());
  const store = failing(sqliteStore({ path: world.ledger }), () => world.effects().length > 0);
  const host = await startHost(world, { store, raw: true });
  const params = { name: "pay", arguments: { text: "a", die: true } };
  const answer = JSON.stringify(await host.request("tools/call", params));
  expect(world.effects()).toHaveLength(1);
  expect(answer).toContain("It may have happened");
  expect(answer).not.toContain("Nothing was sent");
});
