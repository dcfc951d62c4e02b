/** Many calls, twenty at a time, while hosts, gateways and servers are killed: none is done twice, none is lost. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { seeded } from "../../src/gateway/break-answers.ts";
import { SIZE, sized } from "../proof.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import type { Asked, Said } from "./storm-host.ts";
import { newWorld } from "./world.ts";

const newFolder = temporaryFolder();
const HOST = fileURLToPath(new URL("storm-host.ts", import.meta.url));
const PARTIES = ["host", "gateway", "server"] as const;
type Party = (typeof PARTIES)[number];
const PARALLEL = 20;
const CALLS = sized("HOLDFIRE_GATEWAY_CALLS", 10_000, 200);
const KILLS = sized("HOLDFIRE_GATEWAY_KILLS", 30, 3);
const SEED = sized("HOLDFIRE_GATEWAY_SEED", 1, 1);

interface Host {
  /** `undefined`: it got no answer, or it is gone. */
  ask(asked: Asked): Promise<string | undefined>;
  /** Resolves when it is gone: it ends with its gateway, and that with the server. */
  kill(party: Party): Promise<void>;
  end(): Promise<void>;
}

async function startHost(folder: string): Promise<Host> {
  const child: ChildProcess = fork(HOST, [folder], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  const waiting = new Map<string, (said: string | undefined) => void>();
  const [pids] = (await once(child, "message")) as [Record<Party, number>];
  child.on("message", (heard: Said) => {
    if ("text" in heard) waiting.get(heard.text)?.(heard.said);
  });
  const left = async () => {
    await gone;
    for (const resolve of waiting.values()) resolve(undefined);
  };
  void left();
  return {
    ask: (asked) =>
      new Promise((resolve) => {
        waiting.set(asked.text, resolve);
        if (!child.connected) return resolve(undefined);
        child.send(asked, (error) => error && resolve(undefined));
      }),
    async kill(party) {
      process.kill(party === "host" ? (child.pid ?? 0) : pids[party], "SIGKILL");
      await left();
    },
    async end() {
      child.disconnect();
      child.kill();
      await left();
    },
  };
}

/** The server's own words, or those for "already done", are no JSON. */
const outcomeIn = (said: string): string =>
  said.startsWith("{") ? JSON.parse(said).outcome : "done";

test(`${CALLS} calls, ${KILLS} kills, seed ${SEED} (${SIZE})`, async () => {
  const random = seeded(SEED);
  const world = newWorld(newFolder());
  let host = startHost(world.folder);
  const kills: Party[] = [];
  async function kill(): Promise<void> {
    const old = await host;
    const party = PARTIES[(kills.length + SEED) % PARTIES.length] ?? "host";
    kills.push(party);
    host = old.kill(party).then(() => startHost(world.folder));
    await host;
  }

  const told = new Map<string, string>();
  const untrue: string[] = [];
  const timesOf = (text: string) => world.effects().filter(({ args }) => args.text === text).length;
  const every = Math.floor(CALLS / (KILLS + 1));
  let made = 0;
  let killing = Promise.resolve();
  async function work(): Promise<void> {
    while (made < CALLS) {
      made += 1;
      const text = `call ${made}`;
      // While others are under way, at a moment that the seed decides.
      if (made % every === 0 && kills.length < KILLS) {
        const wait = Math.floor(random() * PARALLEL);
        killing = killing.then(() => afterAnswers(wait)).then(kill);
      }
      while (!told.has(text)) {
        const said = await (await host).ask({ text, cancel: random() < 0.05 });
        if (said === undefined) continue;
        // The server had ended before it was sent: it is made again.
        if (outcomeIn(said) === "not_applied") {
          if (timesOf(text) > 0) untrue.push(said);
          continue;
        }
        told.set(text, said);
        answered();
      }
    }
  }
  let answers = 0;
  let answered = () => {};
  const afterAnswers = (count: number): Promise<void> => {
    const goal = answers + count;
    return new Promise((resolve) => {
      answered = () => {
        answers += 1;
        if (answers >= goal || told.size === CALLS) resolve();
      };
      if (count === 0) resolve();
    });
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  await killing;
  await (await host).end();

  const effects = new Map<unknown, number>();
  for (const { args } of world.effects()) {
    effects.set(args.text, (effects.get(args.text) ?? 0) + 1);
  }
  const all = [...told].map(([text, said]) => ({ text, said, outcome: outcomeIn(said) }));
  const count = (outcome: string) => all.filter((one) => one.outcome === outcome).length;
  process.stdout.write(
    `seed ${SEED}: ${CALLS} calls, ${kills.length} kills (${PARTIES.map((party) => `${kills.filter((one) => one === party).length} ${party}`).join(", ")}): ${count("done")} told as done, ${count("unknown")} as unknown\n`,
  );
  expect([...effects].filter(([, times]) => times > 1)).toEqual([]);
  expect(told.size).toBe(CALLS);
  expect(kills).toHaveLength(KILLS);
  // What is told as done is done; all else is told as unknown, and is what was under way when a party was killed.
  expect(untrue).toEqual([]);
  expect(all.filter(({ text, outcome }) => outcome === "done" && !effects.has(text))).toEqual([]);
  expect(all.filter(({ outcome }) => outcome !== "done" && outcome !== "unknown")).toEqual([]);
  expect(count("unknown")).toBeLessThanOrEqual(KILLS * PARALLEL);
}, 1_200_000);
