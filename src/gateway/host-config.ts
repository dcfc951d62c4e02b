/**
 * A host's configuration: where it is, and how the gateway is put before a server's command in it and taken away again.
 * Nothing else in the file is changed, but for its white space.
 *
 * @module
 */

import { join } from "node:path";
import { InvalidInputError } from "../errors.ts";
import { type Fields, fieldsOf } from "./pipe/message.ts";

type HostName = "claude-desktop" | "claude-code" | "cursor" | "vscode";

export const HOSTS: readonly HostName[] = ["claude-desktop", "claude-code", "cursor", "vscode"];

interface HostConfig {
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

export interface Change {
  /** The file as it was, written as it will be: so that only what changes differs. */
  readonly before: string;
  readonly after: string;
}

const COMMAND = "npx";
const GATEWAY = ["-y", "holdfire", "mcp"];

/** The configuration with the gateway before this server. `options` are the gateway's. */
export function wrapServer(
  text: string,
  config: HostConfig,
  name: string,
  options: readonly string[],
): Change {
  return changeServer(text, config, name, (server) => {
    if (typeof server.url === "string") {
      throw new InvalidInputError(
        name,
        "has an address and no command; only programs can be guarded.",
      );
    }
    if (typeof server.command !== "string") throw new InvalidInputError(name, "has no command.");
    if (restOf(server)) throw new InvalidInputError(name, "has the gateway already.");
    const args = Array.isArray(server.args) ? server.args : [];
    const own = [...options, "--server", name];
    return {
      ...server,
      command: COMMAND,
      args: [...GATEWAY, ...own, "--", server.command, ...args],
    };
  });
}

/** The configuration as it was before. */
export function unwrapServer(text: string, config: HostConfig, name: string): Change {
  return changeServer(text, config, name, (server) => {
    const [command, ...args] = restOf(server) ?? [];
    if (command === undefined) throw new InvalidInputError(name, "does not have the gateway.");
    return { ...server, command, args };
  });
}

/** The server's own command, if the gateway stands before it. */
function restOf({ command, args }: Fields): readonly unknown[] | undefined {
  if (command !== COMMAND || !Array.isArray(args)) return undefined;
  const end = args.indexOf("--");
  return GATEWAY.every((part, at) => args[at] === part) && end > 0
    ? args.slice(end + 1)
    : undefined;
}

function changeServer(
  text: string,
  { path, servers: property }: HostConfig,
  name: string,
  change: (server: Fields) => Fields,
): Change {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new InvalidInputError(path, "is no JSON; change it by hand.");
  }
  const config = fieldsOf(parsed);
  const servers = fieldsOf(config[property]);
  if (!Object.hasOwn(servers, name)) {
    const known = Object.keys(servers).join(", ") || "none";
    throw new InvalidInputError(name, `is no server in ${path}; it has: ${known}.`);
  }
  const changed = { ...servers, [name]: change(fieldsOf(servers[name])) };
  const indent = /^(\t| {1,8})"/m.exec(text)?.[1] ?? "  ";
  const written = (value: Fields) => `${JSON.stringify(value, undefined, indent)}\n`;
  return { before: written(config), after: written({ ...config, [property]: changed }) };
}
