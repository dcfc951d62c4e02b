import { expect, test } from "vitest";
import { applyFault } from "../../src/testing/faulty-service/apply-fault.ts";
import {
  begin,
  createKeyMemory,
  type WriteRequest,
} from "../../src/testing/faulty-service/execute.ts";
import { faults } from "../../src/testing/faulty-service/faults.ts";
import { createLogs } from "../../src/testing/faulty-service/logs.ts";
import { createTimers } from "../../src/testing/faulty-service/timers.ts";

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
  "slow, commit %s: the key is settled in time though no client waits for the reply",
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
    applyFault(faults.slow({ ms: 5, commit }), { begin: askStore, beginAgain: askStore }, timers);
    expect(askStore().commit().status).toBe(409);
    for (const call of due) call();
    expect(askStore().commit()).toMatchObject({
      status: 201,
      headers: { "idempotent-replayed": "true" },
    });
    expect(logs.effects).toHaveLength(1);
  },
);
