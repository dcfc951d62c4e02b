import type { Clock } from "../../src/lang/clock.ts";

export interface LeapingClock {
  /** Time stands still until something waits on this clock; then it leaps to the end of the wait. */
  readonly clock: Clock;
  /** A timer that moves no time: it comes when a leap passes it. */
  readonly after: Clock["after"];
}

export function leapingClock(): LeapingClock {
  let time = 1_750_000_000_000;
  const due: { readonly at: number; readonly call: () => void }[] = [];

  const leap = (to: number) => {
    due.sort((a, b) => a.at - b.at);
    for (let next = due[0]; next && next.at <= to; next = due[0]) {
      due.shift();
      time = Math.max(time, next.at);
      next.call();
    }
    time = Math.max(time, to);
  };
  const drop = (call: () => void) => {
    const at = due.findIndex((timer) => timer.call === call);
    if (at >= 0) due.splice(at, 1);
  };

  return {
    clock: {
      now: () => time,
      monotonic: () => time,
      after(ms, call) {
        const to = time + ms;
        const immediate = setImmediate(() => {
          leap(to);
          call();
        });
        return () => clearImmediate(immediate);
      },
    },
    after(ms, call) {
      const timer = () => call();
      if (ms === 0) setImmediate(timer);
      else due.push({ at: time + ms, call: timer });
      return () => drop(timer);
    },
  };
}
