/**
 * Programs behind a shell wrapper: once the call has ended, none of its processes takes effect any more.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CommandOptions, commandTool } from "../../../src/integrations/command/index.ts";
import { openHoldfire } from "../../integrations/shared/owning.ts";
import { listenOn } from "../../wire/servers.ts";
import { behindShell } from "./behind-shell.ts";

const PROGRAM = fileURLToPath(new URL("waits-for-go.mjs", import.meta.url));
const PARENT = fileURLToPath(new URL("parent.ts", import.meta.url));

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-programs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that tells when it is there, and takes effect when `go` is called. */
async function openProgram(...flags: string[]) {
  const file = join(openFolder(), "effects");
  const server = createServer();
  const started = once(server, "connection") as Promise<[Socket]>;
  const port = await listenOn(server);
  const words = [PROGRAM, String(port), file, ...flags];
  /** Tells it to take effect; waits until it has, or is gone. How many effects there are. */
  async function go(): Promise<number> {
    const [socket] = await started;
    // A process that was killed may reset its connection.
    socket.on("error", () => {});
    if (!socket.closed) {
      const answered = new Promise((resolve) =>
        socket.once("data", resolve).once("close", resolve),
      );
      socket.write("go");
      await answered;
    }
    socket.destroy();
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").length : 0;
  }
  return { words, started, go };
}

function run(options: CommandOptions<object>) {
  const stop = new AbortController();
  const context = {
    key: "k",
    precondition: undefined,
    fetch: globalThis.fetch,
    attempt: 1,
    signal: stop.signal,
  };
  return { stop, running: commandTool(options).run({}, context) };
}

describe.skipIf(process.platform === "win32")("a program behind a shell", () => {
  test("does not outlive its timeout: no effect lands after the call has ended", async () => {
    const { words, go } = await openProgram();
    const given = commandTool<object>({
      ...behindShell(words),
      timeoutMs: 3_000,
      killAfterMs: 100,
    });
    const tool = openHoldfire().tool({ name: "pay", kind: "write", ...given });
    expect(await tool.outcome({}, { scope: "job" })).toMatchObject({ status: "unknown" });
    expect(await go()).toBe(0);
  });

  test("is ended by an abort", async () => {
    const { words, started, go } = await openProgram();
    const { stop, running } = run({ ...behindShell(words), killAfterMs: 200 });
    await started;
    stop.abort();
    await expect(running).rejects.toMatchObject({ end: { tag: "killed", signal: "SIGTERM" } });
    expect(await go()).toBe(0);
  });

  test("is killed after the grace if it does not obey, and the call waits for that", async () => {
    const { words, started, go } = await openProgram("--stubborn");
    const { stop, running } = run({ ...behindShell(words), killAfterMs: 100 });
    await started;
    stop.abort();
    await expect(running).rejects.toMatchObject({ end: { tag: "killed" } });
    expect(await go()).toBe(0);
  });

  test("takes effect if it is let", async () => {
    const { words, go } = await openProgram();
    const { stop, running } = run(behindShell(words));
    expect(await go()).toBe(1);
    await expect(running).resolves.toMatchObject({ exitCode: 0 });
    stop.abort();
  });

  test.each(["exit", "throw", "SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "does not outlive a parent that ends by %s",
    async (how) => {
      const { words, started, go } = await openProgram();
      const stdio = ["pipe", "ignore", "ignore"] as const;
      const parent = spawn(process.execPath, [PARENT, ...words, how], { stdio: [...stdio] });
      await started;
      if (how === "exit" || how === "throw") parent.stdin.write("now");
      else parent.kill(how);
      const [code, signal] = await once(parent, "exit");
      const ends = { exit: [0, null], throw: [1, null] };
      expect([code, signal]).toEqual(ends[how as keyof typeof ends] ?? [null, how]);
      expect(await go()).toBe(0);
    },
  );
});

describe.skipIf(process.platform === "win32")("the environment of a program", () => {
  const withFirst = (): string => {
    const folder = openFolder();
    writeFileSync(join(folder, "true"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
    return `${folder}:${process.env.PATH}`;
  };

  test.each([[["HOME"]], [[]], [undefined]])(
    "env: %j keeps PATH, so the same binary runs",
    async (env) => {
      const before = process.env.PATH;
      process.env.PATH = withFirst();
      onTestFinished(() => {
        process.env.PATH = before;
      });
      const { running } = run({ file: "true", args: [], env });
      expect(await running).toEqual({ exitCode: 0, text: "mine\n" });
    },
  );

  test("setEnv sets another PATH", async () => {
    const { running } = run({
      file: "true",
      args: [],
      env: ["HOME"],
      setEnv: { PATH: withFirst() },
    });
    expect(await running).toEqual({ exitCode: 0, text: "mine\n" });
  });
});

describe.skipIf(process.platform === "win32")("output that is not UTF-8", () => {
  const print = (octal: string, more: Partial<CommandOptions<object>> = {}) =>
    run({ file: "/bin/sh", args: ["-c", `printf '${octal}'`], ...more }).running;

  test("is told as bytes, not as replacement characters", async () => {
    expect(await print("\\377\\000a")).toEqual({ exitCode: 0, base64: "/wBh" });
  });

  test("is cut so that what is kept stays within the bound", async () => {
    const cut = { exitCode: 0, base64: "/wBh", truncated: true };
    expect(await print("\\377\\000abc", { maxOutputBytes: 5 })).toEqual(cut);
  });

  test("is not what a bound made by cutting a character", async () => {
    const kept = { exitCode: 0, text: "é", truncated: true };
    expect(await print("éé", { maxOutputBytes: 3 })).toEqual(kept);
  });

  test("stands in an error as a data URL", async () => {
    const { running } = run({ file: "/bin/sh", args: ["-c", "printf '\\377'; exit 3"] });
    const stdout = "data:application/octet-stream;base64,/w==";
    await expect(running).rejects.toMatchObject({ end: { code: 3 }, stdout });
  });

  test("is no plan", async () => {
    const dryRunFlag = "--dry-run";
    const { plan } = commandTool({ file: "/bin/sh", args: ["-c", "printf '\\377'"], dryRunFlag });
    await expect(plan?.({})).rejects.toThrow("must print UTF-8.");
  });
});
