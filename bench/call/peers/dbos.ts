/**
 * DBOS on Postgres: a workflow with one step, named by the request. The same name again answers with
 * what is recorded.
 *
 * @module
 */

import { DBOS } from "@dbos-inc/dbos-sdk";
import { type Effect, type OpenGuard, type Order, type Receipt, requestOf } from "../guard.ts";

let launched: Promise<(order: Order) => Promise<Receipt>> | undefined;

/** It has one runtime in a process: launched once, and left running between rounds. */
async function launch(effect: Effect, url: string, schema: string) {
  DBOS.setConfig({
    name: "bench-call",
    systemDatabaseUrl: url,
    systemDatabaseSchemaName: schema,
    systemDatabasePoolSize: 10,
    logLevel: "error",
  });
  const workflow = DBOS.registerWorkflow(
    (order: Order) => DBOS.runStep(() => effect(order), { name: "place" }),
    { name: "order" },
  );
  await DBOS.launch();
  return workflow;
}

export const open: OpenGuard = async (effect, { postgresUrl, name }) => {
  launched ??= launch(effect, postgresUrl, name);
  const workflow = await launched;
  return {
    call: (order) => DBOS.withNextWorkflowID(requestOf(order), () => workflow(order)),
    async close() {},
  };
};
