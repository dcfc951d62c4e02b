/**
 * Keeps a failed answer to return it again, with as much of its body as an error needs.
 *
 * @module
 */

export interface Kept {
  readonly response: Response;
  readonly body: Promise<Uint8Array<ArrayBuffer>>;
}

const MOST_BYTES = 65_536;

/** Statuses whose `Response` must not have a body, not even an empty one. */
const BODILESS = new Set([204, 205, 304]);

/** Reads the copy at once: a copy that is not read would keep the connection open. */
export function keepAnswer(response: Response): Kept {
  return { response, body: readSome(response.clone()) };
}

export async function replay({ response, body }: Kept): Promise<Response> {
  const { status, statusText, url } = response;
  const headers = new Headers(response.headers);
  // These headers describe the body on the wire, not these bytes.
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
    // The body broke off; the part received is kept.
  }
  // Not awaited: it ends only when the other reader of the body has finished, too.
  reader?.cancel().catch(() => {});
  return new Uint8Array(Buffer.concat(chunks).subarray(0, MOST_BYTES));
}
