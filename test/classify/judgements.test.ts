/**
 * What each of some hundred values proves, thrown or returned, under what may have been seen of its requests; and what
 * is told of it. `judgements.txt` has the answers: a difference there is a change of what holdfire believes.
 */
import { expect, test } from "vitest";
import { type Ended, type JudgeFacts, type Judgement, judge } from "../../src/classify/classify.ts";
import { type Failure, failureOf } from "../../src/classify/failure.ts";
import { lookAt } from "../../src/classify/thrown.ts";
import { attemptWords } from "../../src/engine/outcome/failure-words.ts";
import { whyNotApplied } from "../../src/engine/outcome/words.ts";
import { THROWN } from "./thrown-values.ts";

const NOW = Date.UTC(2026, 0, 1);
const BARE = { refuses: [], keyed: false, reader: false, viaHttp: false, now: NOW };

const sent = (status: number | undefined, more: Partial<JudgeFacts> = {}): JudgeFacts => ({
  ...BARE,
  sight: { requests: [{ status, method: "POST", href: "https://a.example/" }], isPartial: false },
  ...more,
});

const unsent = (error: unknown): JudgeFacts => ({
  ...BARE,
  sight: { requests: [{ unsent: true, error }], isPartial: false },
});

const NOTHING = { requests: [], isPartial: false };

/** What may have been seen of the attempt. */
const SEEN: readonly (readonly [string, (value: unknown) => JudgeFacts])[] = [
  ["nothing", () => ({ ...BARE, sight: NOTHING })],
  ["nothing, via http", () => ({ ...BARE, viaHttp: true, sight: NOTHING })],
  ["nothing, tried", () => ({ ...BARE, viaHttp: true, tried: true, sight: NOTHING })],
  ["partly", () => ({ ...BARE, sight: { requests: [], isPartial: true } })],
  [
    "a read 404, via http",
    () => ({ ...BARE, viaHttp: true, sight: { ...NOTHING, reads: [{ status: 404 }] } }),
  ],
  ["200", () => sent(200)],
  ["202, reader", () => sent(202, { reader: true })],
  ["400, keyed", () => sent(400, { keyed: true })],
  ["402", () => sent(402)],
  ["404, via http", () => sent(404, { viaHttp: true })],
  ["503, refuses", () => sent(503, { refuses: [503] })],
  ["no answer", () => sent(undefined)],
  ["it never left", (value) => unsent(value)],
  ["its cause never left", (value) => unsent(causeOf(value))],
];

function causeOf(value: unknown): unknown {
  try {
    return (value as { cause?: unknown }).cause;
  } catch {
    return undefined;
  }
}

const marks = ({ verdict, proven, untried, accepted, swallowed }: Judgement): string =>
  Object.entries({ [verdict]: true, proven, untried, accepted, swallowed })
    .filter(([, isSo]) => isSo)
    .map(([name]) => name)
    .join("+");

/** What was seen, by what it proves together with this ending. */
function judgedBy(make: () => unknown, end: (value: unknown) => Ended): string {
  const by = new Map<string, string[]>();
  for (const [seen, facts] of SEEN) {
    const value = make();
    const verdict = marks(judge(end(value), facts(value)));
    by.set(verdict, [...(by.get(verdict) ?? []), seen]);
  }
  return [...by].map(([verdict, seen]) => `${verdict} <- ${seen.join(" | ")}`).join("\n");
}

/** What is noted beside the verdict, where nothing was seen and where a 402 was. */
function notedOf(make: () => unknown, end: (value: unknown) => Ended): string {
  const noted = [{ ...BARE, sight: NOTHING }, sent(402)].map((facts) => {
    const { status, code, retryAfterMs, replayed } = judge(end(make()), facts);
    return JSON.stringify({ status, code, retryAfterMs, replayed });
  });
  return [...new Set(noted)].join(" | ");
}

const failure = (error: unknown, body?: unknown): Failure | undefined =>
  failureOf(lookAt(error), body);

const threw = (error: unknown): Ended => ({ ok: false, error });
const gave = (value: unknown): Ended => ({ ok: true, value });

function told([name, make]: (typeof THROWN)[number]): string {
  const failed = failure(make());
  const said = failure(make(), '{"error":{"message":"from the wire"}}')?.said;
  const returned = judgedBy(make, gave);
  const lines = [
    `# ${name}`,
    judgedBy(make, threw),
    `noted: ${notedOf(make, threw)}`,
    // Most are values as any other.
    returned === judgedBy(() => ({}), gave)
      ? ""
      : `returned:\n${returned}\nnoted: ${notedOf(make, gave)}`,
    `failure: ${JSON.stringify(failed)}`,
    said === "from the wire" ? "" : `said: ${said}`,
    attemptWords({}, failed),
    attemptWords({ wireRequests: 1 }, failed),
    whyNotApplied({ reason: "rejected", rejection: { status: 402 } }, {}, failed),
  ];
  return lines.filter(Boolean).join("\n");
}

test("what each value proves, and what is told of it, is what is written down", async () => {
  const all = THROWN.map(told).join("\n\n");
  await expect(`${all}\n`).toMatchFileSnapshot("judgements.txt");
});

test("no two values have one name", () => {
  const names = THROWN.map(([name]) => name);
  expect(new Set(names).size).toBe(names.length);
});
