/** Many calls, twenty at a time, while hosts and servers are killed at random: none is done twice, none is lost. */
import { expect, test } from "vitest";
import { seeded } from "../../src/gateway/chaos.ts";
import { startServer } from "../../src/gateway/pipe/server-process.ts";
import { SIZE, sized } from "../proof.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { type Host, newWorld, type Result, SERVER, startHost, textIn } from "./world.ts";

const newFolder = temporaryFolder();
const PARALLEL = 20;
const CALLS = sized("HOLDFIRE_GATEWAY_CALLS", 10_000, 300);
const SEED = sized("HOLDFIRE_GATEWAY_SEED", 1, 1);

test(`${CALLS} calls with seed ${SEED} and random kills (${SIZE})`, async () => {
  const random = seeded(SEED);
  const world = newWorld(newFolder());
  let killServer = () => {};
  const start = async (): Promise<Host> => {
    const upstream = startServer({
      command: process.execPath,
      args: [SERVER, world.file],
      cwd: world.folder,
      env: process.env,
      maxMessageBytes: 1_000_000,
    });
    killServer = () => upstream.signal("SIGKILL");
    const rules = { servers: { noting: { pay: { onDrift: "allow" as const } } } };
    return startHost(world, { upstream, leaseMs: 200, rules });
  };
  let host = start();
  let restarting: Promise<unknown> | undefined;
  /** One of the two is killed, and both start again. */
  const kill = (isServer: boolean): Promise<unknown> => {
    restarting ??= host
      .then(async (old) => {
        if (isServer) killServer();
        await old.die();
        host = start();
        await host;
      })
      .finally(() => {
        restarting = undefined;
      });
    return restarting;
  };

  const told = new Map<string, string>();
  let next = 0;
  async function once(text: string): Promise<Result | undefined> {
    const stop = new AbortController();
    const call = (await host).call("pay", { text }, { signal: stop.signal, timeout: 20_000 });
    const fate = random();
    if (fate < 0.05) setImmediate(() => stop.abort());
    if (fate > 1 - 2 / PARALLEL / 5) void kill(random() < 0.5);
    const died = new Promise<undefined>((resolve) => {
      void restarting?.then(() => resolve(undefined));
    });
    return Promise.race([call.catch(() => undefined), died]);
  }
  async function work(): Promise<void> {
    while (next < CALLS) {
      next += 1;
      const text = `call ${next}`;
      for (let tries = 0; tries < 50 && !told.has(text); tries += 1) {
        await restarting;
        const answer = await once(text);
        if (answer) told.set(text, textIn(answer));
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  await (await host).end();

  const effects = new Map<unknown, number>();
  for (const { args } of world.effects()) {
    effects.set(args.text, (effects.get(args.text) ?? 0) + 1);
  }
  expect([...effects].filter(([, count]) => count > 1)).toEqual([]);
  expect(told.size).toBe(CALLS);
  // Who was told that it is done is told the truth; who was told otherwise was told that it is not known.
  const untrue = [...told].filter(([text, said]) => {
    const isDone = said.startsWith("noted");
    return isDone
      ? !effects.has(text)
      : !/unknown|in_progress|not_applied|Nothing was sent/.test(said);
  });
  expect(untrue).toEqual([]);
  expect([...told.values()].filter((said) => said.startsWith("noted")).length).toBeGreaterThan(
    CALLS / 2,
  );
}, 600_000);
