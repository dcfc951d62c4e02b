/**
 * The figures of a storm on a terminal.
 *
 * @module
 */

import { styleText } from "node:util";
import type { Storm } from "./storm.ts";

const isTerminal = process.stdout.isTTY === true;
const paint = (style: "red" | "green" | "bold", text: string): string =>
  isTerminal ? styleText(style, text) : text;

export function printStorm(storm: Storm, problems: readonly string[]): void {
  const { stack, score, attemptsPerEffect, answers, reads, seconds } = storm;
  const { kills, cutOff, leftOpen } = storm;
  const { duplicates, silentLosses, untrueWords, falseDedupes, leftUnknown } = score;
  const lines = [
    `${score.effects} effects, ${score.arrivals} requests: ${attemptsPerEffect.toFixed(3)} an effect; ${reads} reads`,
    `${duplicates} duplicates, ${silentLosses} lost, ${untrueWords} untrue words, ${falseDedupes} false dedupes, ${leftUnknown} left unknown`,
    `${answers} answers, the slowest after ${score.answerMs} ms; ${kills} kills cut off ${cutOff} calls; ${leftOpen} left to the survivors; ${seconds} s`,
    `requests by fault: ${Object.entries(storm.faults)
      .map(([tag, count]) => `${tag} ${count}`)
      .join(", ")}`,
  ];
  console.log(paint("bold", stack));
  for (const line of lines) console.log(`  ${line}`);
  for (const history of storm.wrong) console.log(`  ${history}`);
  for (const problem of problems) console.log(paint("red", `  ${problem}`));
  if (problems.length === 0) console.log(paint("green", "  each thing was done once"));
}
