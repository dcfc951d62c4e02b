/**
 * What a row of the storm is: one client, and the ways in which one logical call is made with it.
 *
 * @module
 */

import type { Holdfire } from "../../src/create.ts";
import type { CountingServer, Failure } from "../../test/servers/counting-server.ts";

/** A call against a service that fails; it may hang for `patienceMs`. */
export type Call = (server: CountingServer) => Promise<unknown>;

/** The same with holdfire, which may send `attempts` times. */
export type OwnedCall = (
  server: CountingServer,
  hf: Holdfire,
  attempts: number,
) => Promise<unknown>;

export interface Row {
  readonly name: string;
  /** As the client comes. */
  readonly bare: Call;
  readonly owned: OwnedCall;
  /** The call itself asks for retries. */
  readonly asking?: OwnedCall;
  /** By a clone that was made before its origin was owned. */
  readonly clone?: OwnedCall;
  /** Where not all: it has no timeout of its own. */
  readonly failures?: readonly Failure[];
}

/** A client that acts on the world: the call is made by a keyed tool, which is what is retried. */
export function byTool(
  call: (server: CountingServer, hf: Holdfire) => Promise<unknown>,
): OwnedCall {
  return (server, hf, attempts) => {
    const tool = hf.tool({
      name: "act",
      kind: "write",
      keyed: { forMs: 3_600_000 },
      attempts,
      // Taking the key is what lets holdfire fire again.
      run: async (_: object, { key: _key }) => void (await call(server, hf)),
    });
    return tool({}, { scope: "storm" });
  };
}
