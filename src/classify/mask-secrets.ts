/**
 * Hides in a line of text what may be a secret: an error's message is kept in the ledger and told to a model, and
 * services and clients put addresses, headers and keys into it.
 *
 * It goes by form, so it hides too much rather than too little: of an address everything but the host, what follows
 * `Bearer` or `password=`, numbers as long as a card's, and words that are long and random. It cannot know a name, an
 * e-mail address or a short password; `payloads.redact` can.
 *
 * @module
 */

/** Longer text is cut first, so that no expression below has much to search. */
const LONGEST = 2_000;
const HIDDEN = "[hidden]";

const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>`]+/gi;
const CREDENTIALS = /\b(bearer|basic|digest|token)(\s+)([^\s"',;]{6,})/gi;
/** `api_key=abc`, `"password": "abc"`. */
const ASSIGNED =
  /([\w-]{0,32}(?:key|token|secret|passw|pwd|signature|auth(?!or)|credential|cookie|session)[\w-]{0,16}["']?\s{0,4})([=:])(\s{0,4}["']?)([^\s"',;&]+)/gi;
const ALWAYS = /secret|passw|pwd|credential|cookie/i;
const CARD = /(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])/g;
const WORD = /[A-Za-z0-9_+/=.~-]{12,}/g;

/** How keys and tokens of well-known services begin. */
const KNOWN =
  /^(?:sk|pk|rk|whsec|gh[opusr]|github_pat|glpat|xox[a-z]|xapp|shp[a-z]{2}|npm|pypi|hf|dop_v1|sg|re|key)[-_.]|^(?:AKIA|ASIA|AIza|ya29|eyJ)/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LONG = 32;

export function maskSecrets(text: string): string {
  return text
    .slice(0, LONGEST)
    .replace(ADDRESS, hostOf)
    .replace(CREDENTIALS, (all, scheme: string, space: string, value: string) =>
      isRandom(value) ? `${scheme}${space}${HIDDEN}` : all,
    )
    .replace(ASSIGNED, (all, name: string, sign: string, space: string, value: string) => {
      // "Missing key: amount" is no secret.
      const isShown = sign === ":" && !ALWAYS.test(name) && !isRandom(value);
      return isShown ? all : `${name}${sign}${space}${HIDDEN}`;
    })
    .replace(CARD, HIDDEN)
    .replace(WORD, (word) => (isSecret(word) ? HIDDEN : word));
}

/** The path may be the secret, as in the address of a webhook. */
function hostOf(address: string): string {
  const url = URL.parse(address);
  if (!url?.host) return `${address.slice(0, address.indexOf(":"))}://${HIDDEN}`;
  const isBare = url.pathname.length <= 1 && !url.search && !url.hash;
  return `${url.protocol}//${url.host}${isBare ? "" : "/…"}`;
}

const isRandom = (word: string): boolean => /\d/.test(word) || word.length >= 20;

const isSecret = (word: string): boolean => {
  if (UUID.test(word)) return false;
  if (KNOWN.test(word) && isRandom(word)) return true;
  return word.length >= LONG && /\d/.test(word) && /[A-Za-z]/.test(word);
};
