/**
 * Finds the requests that an attempt made more than once, by name. Redirect hops and polling do not count.
 *
 * @module
 */

const MAX_NOTES = 64;

/** A request that was made more than once. */
export interface Repeat {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  /** How often it was sent. */
  readonly count: number;
  /** How often a guard stopped it from being sent again. */
  readonly refused?: number | undefined;
}

export interface Repeats {
  count(name: string, request: Pick<Repeat, "origin" | "method" | "path">): void;
  refuse(name: string): void;
  /** Asked again later, it counts from one. */
  close(name: string): void;
  all(): readonly Repeat[];
}

const isRepeat = ({ count, refused }: Repeat): boolean => count > 1 || refused !== undefined;

export function createRepeats(): Repeats {
  const groups = new Map<string, Repeat>();
  const closed: Repeat[] = [];
  return {
    count(name, request) {
      const group = groups.get(name);
      const count = (group?.count ?? 0) + 1;
      if (group || groups.size < MAX_NOTES) groups.set(name, { ...group, ...request, count });
    },
    refuse(name) {
      const group = groups.get(name);
      if (group) groups.set(name, { ...group, refused: (group.refused ?? 0) + 1 });
    },
    close(name) {
      const group = groups.get(name);
      if (group && isRepeat(group) && closed.length < MAX_NOTES) closed.push(group);
      groups.delete(name);
    },
    all: () => [...closed, ...[...groups.values()].filter(isRepeat)],
  };
}
