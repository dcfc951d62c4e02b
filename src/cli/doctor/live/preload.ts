/**
 * Loaded before the user's program by `holdfire doctor --live`: logs every request that the process
 * makes. It changes nothing and records no body, header or query.
 *
 * It observes in addition to holdfire's own wire counter, with its own tokens, so that a program
 * that uses holdfire behaves as it does without it.
 *
 * @module
 */

import { createHash, randomUUID } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ambient } from "../../../lang/ambient.ts";
import { createCounter, type Seen, type Watch } from "../../../wire/counter.ts";
import { watchHttp } from "../../../wire/node-http.ts";
import { watchHttp2 } from "../../../wire/node-http2.ts";
import { createRequestTokens } from "../../../wire/request-tokens.ts";
import { currentToken, type WireToken } from "../../../wire/token.ts";
import { watchUndici } from "../../../wire/undici.ts";
import { FOLDER, type Line, LOOK, SALT } from "./tally.ts";

const MOST_LINES = 100_000;

function watchProcess(folder: string, salt: string): void {
  let file: number | undefined;
  let lines = 0;
  let requests = 0;

  function write(line: Line): void {
    lines += 1;
    if (lines > MOST_LINES) return;
    // Opened at the first request: most processes make none.
    file ??= openSync(join(folder, `${process.pid}-${randomUUID()}.jsonl`), "wx", 0o600);
    writeSync(file, `${JSON.stringify(lines === MOST_LINES ? { tag: "cut" } : line)}\n`);
  }

  function watch({ method, address }: Seen, token: WireToken | undefined): Watch {
    requests += 1;
    const n = requests;
    const { origin, path, href } = address;
    const same = createHash("sha256").update(`${salt} ${method} ${href}`).digest("base64url");
    // A look for a tool has no attempt; requests that are none of holdfire's have neither.
    const look = token ? undefined : ambient().look;
    const operation = token?.operationId ?? look;
    const attempt = token?.attempt ?? (look === undefined ? undefined : LOOK);
    let sends = 0;
    write({ tag: "begin", n, method, origin, path, same, operation, attempt });
    return {
      sent() {
        sends += 1;
        if (sends > 1) write({ tag: "resend", n });
      },
      answered(status) {
        if (status >= 200) write({ tag: "status", n, status });
      },
      failed() {
        write({ tag: "error", n });
      },
    };
  }

  const tokens = createRequestTokens({
    current() {
      const token = currentToken();
      const shadow: WireToken = {
        operationId: token?.operationId ?? "",
        attempt: token?.attempt ?? 0,
        refusal: undefined,
        frame: undefined,
        makeTerms: undefined,
        terms: undefined,
        group: undefined,
        counter: { ...createCounter(), watch: (seen) => watch(seen, token) },
        hasEnded: false,
        others: undefined,
        contextLost: false,
      };
      // A request that holdfire refuses is not sent, so it is not logged.
      return token?.refusal ? undefined : shadow;
    },
    call: () => undefined,
    carried: () => ({}),
    // Only holdfire's own observer changes the async context.
    enter() {},
  });
  const isUndiciStream = watchUndici(tokens);
  watchHttp(tokens);
  watchHttp2(tokens, isUndiciStream);
}

const folder = process.env[FOLDER];
const salt = process.env[SALT];
if (folder && salt) watchProcess(folder, salt);
