/**
 * Reads as much of HTTP/1.1 as is needed to know where a message ends, and what its body is.
 *
 * @module
 */

export interface Head {
  /** The request line or the status line. */
  readonly first: string;
  /** Where the body begins. */
  readonly end: number;
  header(name: string): string | undefined;
}

export interface Body {
  readonly isWhole: boolean;
  readonly bytes: Buffer;
}

const END = "\r\n\r\n";
const MOST_HEAD = 64 * 1_024;

/** `undefined` as long as it is not whole. */
export function headOf(bytes: Buffer): Head | undefined {
  const at = bytes.subarray(0, MOST_HEAD).indexOf(END);
  if (at < 0) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, at).toString("latin1").split("\r\n");
  return {
    first,
    end: at + END.length,
    header(name) {
      const line = lines.find((one) => one.slice(0, name.length + 1).toLowerCase() === `${name}:`);
      return line?.slice(name.length + 1).trim();
    },
  };
}

export const statusOf = ({ first }: Head): number => Number(first.split(" ", 2)[1] ?? 0);

/** Without a length a request has no body; a reply then ends with its connection. */
export function bodyOf(bytes: Buffer, head: Head, of: "request" | "reply"): Body {
  const rest = bytes.subarray(head.end);
  if (head.header("transfer-encoding")?.toLowerCase().includes("chunked")) return unchunk(rest);
  const length = head.header("content-length");
  if (length !== undefined) {
    const size = Number(length) || 0;
    return { isWhole: rest.length >= size, bytes: rest.subarray(0, size) };
  }
  const status = of === "reply" ? statusOf(head) : 204;
  return { isWhole: status === 204 || status === 304, bytes: rest };
}

function unchunk(bytes: Buffer): Body {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return { isWhole: false, bytes: Buffer.concat(chunks) };
    const size = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    // Trailers may follow the last chunk, and then an empty line.
    if (!(size > 0)) {
      return { isWhole: bytes.indexOf(END, end) >= 0, bytes: Buffer.concat(chunks) };
    }
    if (bytes.length < end + 2 + size + 2) return { isWhole: false, bytes: Buffer.concat(chunks) };
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
