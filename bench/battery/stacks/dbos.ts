/**
 * DBOS on Postgres: a workflow named by the request, with the call as a step that is retried three times, as its
 * tutorial on steps shows for external services. The step sends the workflow's id as the key. Workflows that a dead
 * process left are recovered by the next one with its executor id.
 *
 * @module
 */

import { DBOS } from "@dbos-inc/dbos-sdk";
import { type Ask, done, failed, keyOf, type Place, type Stack, type Tool } from "../stack.ts";
import { isRefusal, orderFrom, placeOrder, type Receipt } from "../tool-body.ts";

type Workflow = (tool: Tool, ask: Ask) => Promise<Receipt>;

let launched: Promise<Workflow> | undefined;

/** It has one runtime in a process. */
async function launch({ postgresUrl = "", schema, ledger }: Place): Promise<Workflow> {
  DBOS.setConfig({
    name: "battery",
    systemDatabaseUrl: postgresUrl,
    systemDatabaseSchemaName: `${schema}_dbos`,
    systemDatabasePoolSize: 5,
    executorID: ledger,
    applicationVersion: "1",
    logLevel: "error",
  });
  const workflow = DBOS.registerWorkflow(
    (tool: Tool, ask: Ask) =>
      DBOS.runStep(() => placeOrder(tool, orderFrom(ask), { key: DBOS.workflowID }), {
        name: "order",
        retriesAllowed: true,
        shouldRetry: (error) => !isRefusal(error),
      }),
    { name: "order" },
  );
  await DBOS.launch();
  return workflow;
}

export const stack: Stack = {
  name: "DBOS step",
  says: "a DBOS workflow with one step, retriesAllowed; the workflow id is the key",
  packages: ["@dbos-inc/dbos-sdk"],
  reads: false,
  isHoldfire: false,
  needs: ["postgres"],
  async setUp(tool, place) {
    launched ??= launch(place);
    const workflow = await launched;
    const idOf = (ask: Ask): string => `${place.name}/${keyOf(ask)}`;
    return {
      async call(ask) {
        try {
          await DBOS.withNextWorkflowID(idOf(ask), () => workflow(tool, ask));
          return done();
        } catch (error) {
          return failed(error);
        }
      },
      // A workflow that was left is recovered at the launch: nothing is left to ask for.
      async reconcile() {},
      async standing(ask) {
        const status = (await DBOS.getWorkflowStatus(idOf(ask)))?.status;
        if (status === undefined) return undefined;
        if (status === "SUCCESS") return "done";
        return status === "ERROR" ? "failed" : "unknown";
      },
      async close() {},
    };
  },
};
