/**
 * Virtual time: what is due next is done next, and the clock stands still in between.
 *
 * @module
 */

export interface Timeline {
  now(): number;
  after(ms: number, act: () => void): void;
  /** Does all that is due, in order; what is due at the same time, in the order in which it was asked for. */
  run(): void;
}

interface Due {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: the earliest is the first. */
export function createTimeline(): Timeline {
  const heap: Due[] = [];
  let [now, asked] = [0, 0];
  const at = (index: number): Due => heap[index] as Due;
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [at(b), at(a)];
  };

  function push(due: Due): void {
    let child = heap.push(due) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isBefore(at(child), at(parent))) break;
      swap(child, parent);
      child = parent;
    }
  }

  function pop(): Due | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      let least = parent;
      if (left < heap.length && isBefore(at(left), at(least))) least = left;
      if (right < heap.length && isBefore(at(right), at(least))) least = right;
      if (least === parent) return first;
      swap(parent, least);
      parent = least;
    }
  }

  return {
    now: () => now,
    after(ms, act) {
      asked += 1;
      push({ at: now + ms, order: asked, act });
    },
    run() {
      for (let due = pop(); due; due = pop()) {
        now = due.at;
        due.act();
      }
    },
  };
}
