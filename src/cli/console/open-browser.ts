/**
 * Opens an address in the person's browser, where there is one. That it did not open is no error: the address is printed.
 *
 * The address has the token in it, and other users of the machine can read the arguments of a program. So the browser is
 * given a file that only this user can read, and that leads there.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const PROGRAMS: Partial<Readonly<Record<NodeJS.Platform, string>>> = {
  darwin: "open",
  win32: "explorer",
  linux: "xdg-open",
};

/** Returns what removes the file. */
export function openBrowser(url: string): () => void {
  const program = PROGRAMS[process.platform];
  if (program === undefined) return () => {};
  try {
    const page = pageTo(url);
    const child = spawn(program, [page], { stdio: "ignore", detached: true });
    child.on("error", () => {});
    child.unref();
    return () => rmSync(page, { force: true });
  } catch {
    return () => {};
  }
}

/** In the home folder: a browser in a sandbox of its own may not see the folder for temporary files. */
export function pageTo(url: string, home: string = homedir()): string {
  const folder = join(home, ".holdfire");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const page = join(folder, `console-${crypto.randomUUID()}.html`);
  const address = encodeURI(url).replaceAll('"', "%22");
  const text = `<!doctype html><meta http-equiv="refresh" content="0; url=${address}"><title>holdfire</title>\n`;
  writeFileSync(page, text, { mode: 0o600, flag: "wx" });
  return page;
}
