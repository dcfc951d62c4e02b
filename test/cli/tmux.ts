/**
 * A real terminal for tests: a shell in tmux, typed into as a person would, and its screen as text.
 *
 * @module
 */

import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);

const WIDTH = 150;
const HEIGHT = 60;
/** Beyond this nothing more is to be expected of the screen. */
const LONGEST_MS = 20_000;

/** Whether there is tmux. Without it the tests say so, and fail if `HOLDFIRE_REQUIRE_SERVERS=1`. */
export function findTmux(): boolean {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    if (process.env.HOLDFIRE_REQUIRE_SERVERS === "1") throw new Error("No tmux in the PATH.");
    process.stdout.write("skipped: no tmux in PATH\n");
    return false;
  }
}

export interface Screen {
  /** Types a line and Enter. */
  type(line: string): Promise<void>;
  /** Presses a key by tmux's name for it, e.g. `C-c`. */
  press(key: string): Promise<void>;
  /** What stands on the screen; with `colours`, as escape sequences. */
  text(colours?: "colours"): Promise<string>;
  /** Waits until it stands there, and returns the screen. */
  shows(text: string): Promise<string>;
  clear(): Promise<void>;
}

/** A shell of its own, in a server of its own: nothing of the user's tmux is touched. */
export async function openScreen(cwd: string): Promise<Screen> {
  // In the folder of the test, with which it goes.
  const socket = join(cwd, "tmux");
  const tmux = async (...args: string[]) => (await run("tmux", ["-S", socket, ...args])).stdout;
  const size = ["-x", String(WIDTH), "-y", String(HEIGHT)];
  const shell = ["env", "-u", "NO_COLOR", "PS1=$ ", "ENV=", "sh"];
  const config = ["-f", "/dev/null"];
  await tmux(...config, "new-session", "-d", ...size, "-c", cwd, ...shell);
  onTestFinished(async () => {
    await tmux("kill-server").catch(() => {});
  });
  const text: Screen["text"] = (colours) =>
    tmux("capture-pane", "-p", "-J", ...(colours ? ["-e"] : []));
  return {
    text,
    async type(line) {
      if (line !== "") await tmux("send-keys", "-l", line);
      await tmux("send-keys", "Enter");
    },
    press: async (key) => void (await tmux("send-keys", key)),
    async shows(wanted) {
      const until = Date.now() + LONGEST_MS;
      for (;;) {
        const screen = await text();
        if (screen.includes(wanted)) return screen;
        if (Date.now() > until) throw new Error(`The screen never showed "${wanted}":\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
    async clear() {
      await tmux("send-keys", "-R", "");
      await tmux("clear-history");
    },
  };
}
