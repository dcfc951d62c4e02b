/**
 * Where hosts keep their configuration, and under which name it has the servers.
 *
 * @module
 */

import { join } from "node:path";

export type HostName = "claude-desktop" | "claude-code" | "cursor" | "vscode";

export const HOSTS: readonly HostName[] = ["claude-desktop", "claude-code", "cursor", "vscode"];

export interface HostConfig {
  readonly path: string;
  /** The property that has the servers, by name. */
  readonly servers: "mcpServers" | "servers";
}

export interface Place {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A project's own file, for hosts that have one; else the person's. */
export function configOf(host: HostName, { platform, home, cwd, env }: Place): HostConfig {
  switch (host) {
    case "claude-desktop": {
      const folder =
        platform === "darwin"
          ? join(home, "Library", "Application Support")
          : platform === "win32"
            ? (env.APPDATA ?? join(home, "AppData", "Roaming"))
            : (env.XDG_CONFIG_HOME ?? join(home, ".config"));
      return { path: join(folder, "Claude", "claude_desktop_config.json"), servers: "mcpServers" };
    }
    case "claude-code":
      return { path: join(cwd, ".mcp.json"), servers: "mcpServers" };
    case "cursor":
      return { path: join(home, ".cursor", "mcp.json"), servers: "mcpServers" };
    case "vscode":
      return { path: join(cwd, ".vscode", "mcp.json"), servers: "servers" };
  }
}
