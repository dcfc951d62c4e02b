/**
 * What a user calls, for one tenant: each name of `Holdfire`, bound to the tenant's engine. How a call then runs is told in
 * `engine/run.ts`.
 *
 * @module
 */

import type { Holdfire } from "./api.ts";
import { operationsOf } from "./engine/admin/operations.ts";
import { prune } from "./engine/admin/prune.ts";
import { lookUpIn } from "./engine/admin/status.ts";
import { makeStatusTool } from "./engine/admin/status-tool.ts";
import { type GuardedTool, guard } from "./engine/call/guarded-tool.ts";
import { CALL_OPTIONS } from "./engine/call/input.ts";
import { defineTool } from "./engine/define/define-tool.ts";
import type { ToolDefinition } from "./engine/define/definition.ts";
import { hasSameFunctions } from "./engine/define/source.ts";
import type { Tool } from "./engine/define/tool.ts";
import type { Engine } from "./engine/engine.ts";
import { bindEngine } from "./engine/engine-of.ts";
import { currentFrame } from "./engine/operation/nesting.ts";
import { ClosedError } from "./errors.ts";
import { approvalsOf } from "./gate/approvals.ts";
import { createFetch } from "./integrations/fetch/index.ts";
import { checkPerson, checkScope } from "./key/check-name.ts";
import { enterScope } from "./key/scope.ts";
import { namedTurnScope } from "./key/turn.ts";
import { runOutside } from "./lang/ambient.ts";
import { driftReport } from "./reconcile/drift-report.ts";
import { reconcile, reconcileEvery } from "./reconcile/reconcile.ts";
import type { Fetch } from "./wire/guarded-fetch.ts";

/** What `create.ts` hands in: shared by all tenants, but for the transaction. */
export interface Shared {
  /** The attempts of a write, where the user has set them for all tools. */
  readonly attempts: number | undefined;
  /** The platform's own, taken when the holdfire was made. */
  readonly fetch: Fetch;
  readonly forTenant: (tenant: string) => Holdfire;
  readonly enlist: (tx: unknown) => Holdfire;
  readonly close: () => Promise<void>;
}

export function holdfireFor(engine: Engine, shared: Shared): Holdfire {
  const { attempts } = shared;
  const { tools, registry, rebuilt } = engine.tenantState;
  const define = (definition: object): Tool => {
    // What a call under way still needs is part of that call.
    if (engine.isClosed() && !currentFrame()) throw new ClosedError();
    const defined = defineTool(definition as ToolDefinition<never, never, unknown>, registry);
    const own = "attempts" in definition || defined.kind === "read" || attempts === undefined;
    return own ? defined : { ...defined, attempts };
  };
  let guarded: Fetch | undefined;
  const hf: Holdfire = {
    tool: ((definition: object): GuardedTool<never, never> => {
      const tool = define(definition);
      // One made inside a transaction ends with it.
      if (!engine.enlisted) {
        const before = tools.get(tool.name);
        if (before && !hasSameFunctions(before, tool)) rebuilt.add(tool.name);
        tools.set(tool.name, tool);
      }
      return guard(tool, engine);
    }) as unknown as Holdfire["tool"],
    run: (async (call: Readonly<Record<string, unknown>>) => {
      const { args, ...rest } = call;
      const definition = { ...rest };
      const given: Record<string, unknown> = {};
      for (const name of CALL_OPTIONS) {
        if (name !== "deadlineMs") delete definition[name];
        if (call[name] !== undefined) given[name] = call[name];
      }
      return guard(define(definition), engine)(args, given);
    }) as unknown as Holdfire["run"],
    scope: (id, fn, how) => {
      const isTurn = typeof id === "object" && id !== null;
      return enterScope(isTurn ? namedTurnScope(id.thread, id.turn) : checkScope(id), fn, how);
    },
    detached: (fn) => runOutside(fn),
    fetch: async (input, init) => {
      guarded ??= createFetch(hf, { fetch: shared.fetch });
      return guarded(input, init);
    },
    forTenant: shared.forTenant,
    enlist: shared.enlist,
    trust: async ({ by }) => engine.ledger.trust(checkPerson(by)),
    prune: async (what = {}) => prune(what, engine),
    statusTool: () => makeStatusTool(lookUpIn(engine)),
    reconcile: async (what = {}) => reconcile(what, tools, engine),
    reconcileEvery: (ms, what = {}) => reconcileEvery(ms, what, hf.reconcile, engine),
    driftReport: async (what = {}) => driftReport(what, tools, engine),
    operations: operationsOf(engine),
    approvals: approvalsOf(engine),
    on: engine.events.on,
    close: shared.close,
  };
  return bindEngine(hf, engine);
}
