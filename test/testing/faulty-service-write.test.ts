import { expect, test } from "vitest";
import { begin, type WriteRequest } from "../../src/testing/faulty-service/execute.ts";
import { faults } from "../../src/testing/faulty-service/fault.ts";
import { createKeyMemory } from "../../src/testing/faulty-service/key-memory.ts";
import { createLogs } from "../../src/testing/faulty-service/logs.ts";
import { createTimers } from "../../src/testing/faulty-service/timers.ts";
import { fare } from "../../src/testing/faulty-service/write.ts";

const request: WriteRequest = {
  class: "keyed",
  record: undefined,
  key: "k1",
  intent: {},
  identity: "{}",
  precondition: { ifMatch: undefined, ifNoneMatch: undefined },
  arrival: 1,
};

test.each(["before", "after"] as const)(
  "slow, commit %s: the key is settled in time though nobody waits for the reply",
  (commit) => {
    const due: (() => void)[] = [];
    const timers = createTimers((_ms, call) => {
      due.push(call);
      return () => {};
    });
    const logs = createLogs(
      () => 0,
      () => 0,
    );
    const keys = createKeyMemory(() => 0, 1_000);
    const askStore = () => begin(request, logs, keys);

    // The reply is dropped, as it is when the client has left.
    fare(faults.slow({ ms: 5, commit }), { begin: askStore, beginAgain: askStore }, timers);
    expect(askStore().commit().status).toBe(409);
    for (const call of due) call();
    expect(askStore().commit()).toMatchObject({
      status: 201,
      headers: { "idempotent-replayed": "true" },
    });
    expect(logs.effects).toHaveLength(1);
  },
);
