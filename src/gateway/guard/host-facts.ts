/**
 * What is known of the host: its name, whether it can ask a person, and which revision it speaks. Until 2025-11-25 it
 * says so once, in `initialize`; from 2026-07-28 on in every request.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { type Fields, fieldsOf, type Request } from "../pipe/message.ts";

export interface HostFacts {
  readonly name: string | undefined;
  /** It can show a form to a person. */
  readonly elicits: boolean;
  /** It has no session: what is asked of a person goes in the answer, and every result says what it is. */
  readonly isStateless: boolean;
  /** What every request of it carries. */
  readonly envelope: Fields;
}

const PREFIX = "io.modelcontextprotocol/";

export const UNKNOWN_HOST: HostFacts = {
  name: undefined,
  elicits: false,
  isStateless: false,
  envelope: {},
};

/** What a request adds to what is known. */
export function factsIn({ method, params }: Request, known: HostFacts): HostFacts {
  if (method === "initialize") {
    return {
      ...known,
      name: nameIn(params.clientInfo) ?? known.name,
      elicits: canElicit(params.capabilities),
      isStateless: false,
    };
  }
  const meta = fieldsOf(params._meta);
  if (meta[`${PREFIX}protocolVersion`] === undefined) return known;
  const envelope = Object.entries(meta).filter(([name]) => name.startsWith(PREFIX));
  return {
    name: nameIn(meta[`${PREFIX}clientInfo`]) ?? known.name,
    elicits: canElicit(meta[`${PREFIX}clientCapabilities`]),
    isStateless: true,
    envelope: Object.fromEntries(envelope),
  };
}

function nameIn(info: unknown): string | undefined {
  const name = peek(info, "name");
  return typeof name === "string" ? name : undefined;
}

/** One that says no mode has the form; one that can only open an address has not. */
function canElicit(capabilities: unknown): boolean {
  const elicitation = peek(capabilities, "elicitation");
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return peek(elicitation, "form") !== undefined || peek(elicitation, "url") === undefined;
}
