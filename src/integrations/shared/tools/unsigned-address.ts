/**
 * An address without its signature: a store signs the address of one file anew for every request.
 *
 * Only parameters that are known to belong to a signature are left out; any other may say which file it is.
 *
 * @module
 */

/** S3 and Google Cloud Storage. No other parameter begins so. */
const PREFIX = /^x-(?:amz|goog)-/;

/** Names that are common words elsewhere: left out only beside the signature itself. */
const SIGNED: Readonly<Record<string, ReadonlySet<string>>> = {
  // CloudFront, and the older signatures of S3 and Google.
  signature: new Set([
    "signature",
    "expires",
    "policy",
    "key-pair-id",
    "awsaccesskeyid",
    "googleaccessid",
  ]),
  // Azure's shared access signatures.
  sig: new Set([
    ...["sig", "se", "sp", "sv", "st", "sr", "ss", "srt", "spr", "sip", "sdd"],
    ...["skoid", "sktid", "skt", "ske", "sks", "skv"],
  ]),
};

export function unsignedAddress(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  const names = new Set([...url.searchParams.keys()].map((name) => name.toLowerCase()));
  const signed = Object.keys(SIGNED).filter((mark) => names.has(mark));
  const isSignature = (name: string) =>
    PREFIX.test(name) || signed.some((mark) => SIGNED[mark]?.has(name));
  const kept = [...url.searchParams].filter(([name]) => !isSignature(name.toLowerCase()));
  // Untouched where nothing is left out: writing parameters anew changes how they are escaped.
  if (kept.length < url.searchParams.size) url.search = String(new URLSearchParams(kept));
  return url.href;
}
