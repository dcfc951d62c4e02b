/**
 * A command line for a script of Node behind a shell that waits for it.
 *
 * @module
 */

export const behindShell = (
  words: readonly string[],
): { readonly file: string; readonly args: readonly string[] } => ({
  file: "/bin/sh",
  args: ["-c", '"$0" "$@"; true', process.execPath, ...words],
});
