/**
 * A failed answer that is kept to be given again, with as much of its body as an error needs.
 *
 * @module
 */

export interface Kept {
  readonly response: Response;
  readonly body: Promise<Uint8Array<ArrayBuffer>>;
}

const MOST_BYTES = 65_536;

/** Statuses for which a `Response` may have no body, not even an empty one. */
const BODILESS = new Set([204, 205, 304]);

/** Reads along at once: a copy nobody reads would hold the connection. */
export function keepAnswer(response: Response): Kept {
  return { response, body: readSome(response.clone()) };
}

export async function replay({ response, body }: Kept): Promise<Response> {
  const { status, statusText, url } = response;
  const headers = new Headers(response.headers);
  // They describe the body on the wire, not these bytes.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) {
    headers.delete(name);
  }
  const bytes = BODILESS.has(status) ? null : await body;
  const again = new Response(bytes, { status, statusText, headers });
  Object.defineProperty(again, "url", { value: url });
  return again;
}

async function readSome({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (reader && size < MOST_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
  } catch {
    // It broke off: what came is what there is.
  }
  // Not awaited: it is over only when the other reader has had enough, too.
  reader?.cancel().catch(() => {});
  return new Uint8Array(Buffer.concat(chunks).subarray(0, MOST_BYTES));
}
