/**
 * Which fault the next request gets: the planned ones in order, then the standing one.
 *
 * @module
 */

export interface Plan<F> {
  add(faults: readonly F[]): void;
  /** The fault of every request for which none is planned; `undefined` takes it back. */
  always(fault: F | undefined): void;
  next(): F | undefined;
}

export function createPlan<F extends object>(check: (fault: F) => void): Plan<F> {
  const queue: F[] = [];
  let standing: F | undefined;

  // A copy: the log shows the fault that was played, whatever its planner does to it later.
  const take = (fault: F): F => {
    check(fault);
    return Object.freeze({ ...fault });
  };

  return {
    add(faults) {
      queue.push(...faults.map(take));
    },
    always(fault) {
      standing = fault && take(fault);
    },
    next: () => queue.shift() ?? standing,
  };
}
