/**
 * `holdfire demo`: the retry that paid twice, in three acts over plain HTTP on this machine. It shows the wire, the
 * ledger and the money side by side.
 *
 * An act is played first and shown then, so that a slow reader changes nothing.
 *
 * @module
 */

import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Command, defineCommand, EXIT } from "../command.ts";
import { jsonText, paint, type Style, tableLines } from "../terminal.ts";
import { type Act, type Ending, PLAIN_ACTS } from "./acts.ts";
import { openScene, PAYOUT, type Row } from "./scene.ts";

/** How long a line stands before the next one, in milliseconds. */
export const PAUSE_MS = 400;

export const INTRO = "Pay 40.00 to ana, once. The bank pays, and its reply is lost.";

export const demo: Command = defineCommand({
  name: "demo",
  summary: "Shows the retry that paid twice, and how holdfire prevents it.",
  takes: [],
  about: [
    "Three acts against a real HTTP service that it starts on this machine; nothing leaves it, and no ledger is touched. First a loop that tries again: two payouts. Then the same with holdfire: one payout, known by a read. Then a tool that cannot be read: one payout, held, and a person is asked.",
    "Ends with 1 if the numbers differ.",
  ],
  options: {
    fast: {
      type: "boolean",
      about: "Without pauses. Outside a terminal there are none.",
    },
  },
  async run({ values }, terminal) {
    if (values.json) {
      const played: Played[] = [];
      for (const act of PLAIN_ACTS) played.push(await playAct(act));
      terminal.out(jsonText({ acts: played }));
      return played.every(({ asPromised }) => asPromised) ? EXIT.ok : EXIT.found;
    }
    const isSlow = terminal.isTTY && !values.fast;
    const asPromised = await showDemo(INTRO, PLAIN_ACTS, {
      out: terminal.out,
      paint: (style, text) => paint(terminal, style, text),
      pause: async () => {
        if (isSlow) await wait(PAUSE_MS, undefined, { signal: terminal.signal }).catch(() => {});
      },
    });
    return asPromised ? EXIT.ok : EXIT.found;
  },
});

/** Where a demo is shown. */
export interface Screen {
  out(line: string): void;
  paint(style: Style, text: string): string;
  /** Lets the reader read. */
  pause(): Promise<void>;
}

/** What became of one act. */
interface Played {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly ending: Ending;
  readonly asPromised: boolean;
}

async function playAct({ title, promised, play }: Act): Promise<Played> {
  const scene = await openScene();
  try {
    const outcome = await play(scene);
    scene.catchUp();
    const { arrivals, reads, effects } = scene.bank;
    const counts = { payouts: effects.length, posts: arrivals.length, reads: reads.length };
    const ending: Ending = { ...counts, outcome };
    const asPromised = isDeepStrictEqual(ending, promised);
    return { title, rows: scene.rows, ending, asPromised };
  } finally {
    await scene.close();
  }
}

/** Plays and shows all acts. Returns whether each ended as promised. */
export async function showDemo(
  intro: string,
  acts: readonly Act[],
  screen: Screen,
): Promise<boolean> {
  const { out, paint } = screen;
  out(paint("bold", "The retry that paid twice"));
  out(intro);
  const played: Played[] = [];
  for (const [index, act] of acts.entries()) {
    await screen.pause();
    const one = await playAct(act);
    played.push(one);
    out("");
    out(paint("bold", `${index + 1}. ${act.title}`));
    await showRows(one.rows, screen);
    out(`  ${paint(one.ending.payouts === 1 ? "green" : "red", summaryOf(one.ending))}`);
    if (!one.asPromised) {
      out(`  ${paint("red", `Promised: ${summaryOf(act.promised)}. This is not how it ends.`)}`);
    }
  }
  return played.every(({ asPromised }) => asPromised);
}

async function showRows(rows: readonly Row[], { out, paint, pause }: Screen): Promise<void> {
  const inColumns = rows.flatMap((row) => (row.tag === "said" ? [] : [cellsOf(row, paint)]));
  const columns = [{ title: "the wire" }, { title: "the ledger" }, { title: "the money" }] as const;
  // Empty rows keep the columns where they are in every act.
  const [head = "", ...lines] = tableLines(columns, [...inColumns, WIDEST]);
  out(`  ${paint("dim", head)}`);
  for (const row of rows) {
    await pause();
    if (row.tag === "said") out(`  ${paint("cyan", `${row.who}:`)} ${row.text}`);
    else out(`  ${lines.shift() ?? ""}`);
  }
  await pause();
}

const WIDEST = [" ".repeat(35), " ".repeat(29), ""];

function cellsOf(
  row: Exclude<Row, { tag: "said" }>,
  paint: Screen["paint"],
): readonly [string, string, string] {
  if (row.tag === "ledger") return ["", paint("yellow", row.text), ""];
  const money = paint(row.cents > PAYOUT.cents ? "red" : "green", euros(row.cents));
  return [row.lost ? paint("red", row.text) : row.text, "", money];
}

const summaryOf = ({ payouts, posts, reads, outcome }: Ending): string =>
  `payouts: ${payouts} (${euros(payouts * PAYOUT.cents)}), requests to pay: ${posts}, reads: ${reads}, outcome: ${outcome}`;

const euros = (cents: number): string => (cents / 100).toFixed(2);
