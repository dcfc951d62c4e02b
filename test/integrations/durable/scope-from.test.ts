/** Scopes from the ids of durable engines; those that cannot run here by what their documentation says. */
import { expect, test } from "vitest";
import { InvalidInputError } from "../../../src/errors.ts";
import { scopeFrom } from "../../../src/integrations/durable/index.ts";

const activity = {
  activityId: "1",
  attempt: 1,
  workflowNamespace: "default",
  workflowExecution: { workflowId: "order-7", runId: "0b1c" },
};

test("temporal: a retried activity keeps its scope", () => {
  expect(scopeFrom.temporal(activity)).toBe("temporal:default/order-7/0b1c/1");
  const retried = { ...activity, attempt: 2 };
  expect(scopeFrom.temporal(retried)).toBe(scopeFrom.temporal(activity));
});

test("temporal: another activity, run, workflow or namespace is another scope", () => {
  const { workflowExecution } = activity;
  const scopes = [
    activity,
    { ...activity, activityId: "2" },
    { ...activity, workflowExecution: { ...workflowExecution, runId: "next" } },
    { ...activity, workflowExecution: { ...workflowExecution, workflowId: "order-8" } },
    { ...activity, workflowNamespace: "staging" },
  ].map(scopeFrom.temporal);
  expect(new Set(scopes).size).toBe(5);
});

test("temporal: an activity without a workflow has a run of its own", () => {
  const alone = { activityId: "mail", activityNamespace: "default", activityRunId: "r1" };
  expect(scopeFrom.temporal(alone)).toBe("temporal-activity:default/mail/r1");
  expect(() => scopeFrom.temporal({ activityId: "mail" })).toThrow(/activityRunId/);
});

test("inngest: run and step", () => {
  expect(scopeFrom.inngest({ runId: "01H" }, "charge")).toBe("inngest:01H/charge");
});

test("workflow: run and step", () => {
  const scope = scopeFrom.workflow({ workflowRunId: "wrun_1" }, { stepId: "step_2" });
  expect(scope).toBe("workflow:wrun_1/step_2");
});

test("restate: invocation and step", () => {
  const context = { request: () => ({ id: "inv_1" }) };
  expect(scopeFrom.restate(context, "charge")).toBe("restate:inv_1/charge");
});

test("dbos: workflow and step, from the first step on", () => {
  expect(scopeFrom.dbos({ workflowID: "w1", stepID: 0 })).toBe("dbos:w1/0");
});

test("ids of any length and with any character name one scope each", () => {
  const long = "x".repeat(1_000);
  const scopes = [
    scopeFrom.inngest({ runId: "a/b" }, "c"),
    scopeFrom.inngest({ runId: "a" }, "b/c"),
    scopeFrom.inngest({ runId: long }, "1"),
    scopeFrom.inngest({ runId: long }, "2"),
    scopeFrom.inngest({ runId: "a\u0000 b\n" }, "é"),
  ];
  expect(new Set(scopes).size).toBe(5);
  for (const scope of scopes) expect(scope.length).toBeLessThanOrEqual(256);
});

test("where an id is missing there is no scope, and the error says which", () => {
  expect(() => scopeFrom.dbos({ workflowID: "w1", stepID: undefined })).toThrow(/stepID/);
  expect(() => scopeFrom.dbos({ workflowID: undefined, stepID: 1 })).toThrow(/workflowID/);
  expect(() => scopeFrom.inngest({ runId: "" }, "charge")).toThrow(/runId/);
  expect(() => scopeFrom.inngest({ runId: "r" }, undefined as never)).toThrow(/step/);
  expect(() => scopeFrom.inngest({ runId: "\ud800" }, "s")).toThrow(InvalidInputError);
  expect(() => scopeFrom.temporal(undefined as never)).toThrow(InvalidInputError);
  expect(() => scopeFrom.temporal({ ...activity, activityId: "" })).toThrow(/activityId/);
});
