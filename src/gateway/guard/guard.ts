/**
 * The guard of one host and one server: takes the host's tool calls, and adds its own tools to the server's list.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { Guard, Wires } from "../gateway.ts";
import { peopleFor } from "../people/people.ts";
import {
  type Answer,
  answerText,
  type Fields,
  fieldsOf,
  type Id,
  type Request,
} from "../pipe/message.ts";
import { createUnderWay } from "../pipe/under-way.ts";
import { taskReader } from "../tasks.ts";
import { complete, wordsAnswer } from "./answer.ts";
import { answerCall } from "./answer-call.ts";
import type { Call, CallAnswer, CallEvent, CallParts } from "./call.ts";
import { callRows } from "./call-rows.ts";
import { createFlights, createRounds, type Flight, type Waiting } from "./flight.ts";
import { factsIn, type HostFacts, UNKNOWN_HOST } from "./host-facts.ts";
import { operationsOf } from "./operations.ts";
import { ownTools } from "./own-tools.ts";
import { presenceIn } from "./presence.ts";
import { createRewordings } from "./rewording.ts";
import { type Repeat, ruleFor, type ToolRules } from "./rules.ts";
import { serverAnswers, serverTools } from "./server-tools.ts";
import { trackCalls } from "./tracked-calls.ts";
import { conversationOf, threadOf, understand, type Whose } from "./understand.ts";

export interface GuardOptions {
  readonly hf: Holdfire;
  readonly whose: Whose;
  /** The ledger, as `--store` names it; without secrets. */
  readonly ledger: string;
  readonly rules: ToolRules;
  readonly repeat: Repeat;
  /** How long a repeat is asked about, and an answer that was not received is replayed, in milliseconds. */
  readonly withinMs: number;
  /** How long a host waits for an answer, in milliseconds: one that left later was perhaps not received. */
  readonly patienceMs: number;
  /** How long a gateway counts as alive after its last sign of life, in milliseconds. */
  readonly aliveMs: number;
  readonly onEvent?: ((event: CallEvent | "call" | "guarded") => void) | undefined;
  readonly log: (line: string) => void;
}

export function createGuard(options: GuardOptions, wires: Wires): Guard {
  const { hf, whose, rules, repeat, withinMs, patienceMs, log, onEvent = () => {} } = options;
  const { toServer, toHost } = wires;
  const engine = engineOf(hf);
  const { clock } = engine;
  const presence = presenceIn(engine, options.aliveMs);
  const trackedCalls = trackCalls(callRows(engine), presence, engine);
  const rule = (tool: string) => ruleFor(rules, tool);
  let host: HostFacts = UNKNOWN_HOST;
  const tools = serverTools({
    toServer,
    envelope: () => host.envelope,
    alsoDoes: (name) => rule(name).alsoDoes,
    now: () => clock.monotonic(),
  });
  const callServer = (name: string, args: object): Promise<Answer> =>
    toServer.ask("tools/call", { name, arguments: args, _meta: host.envelope });
  const { server, user } = whose;
  const operations = operationsOf({
    hf,
    server,
    ruleFor: rule,
    toServer,
    callServer,
    attemptTimeoutMs: patienceMs,
  });
  const failures = new Map<string, Answer>();
  const rewordings = createRewordings({ hf, withinMs, now: engine.ledger.clock.latest });
  const { ledger } = options;
  const readTask = taskReader(toServer, () => host.envelope);
  const own = ownTools({ hf, operations, ledger, readTask });
  const answers = serverAnswers(tools, own);
  const { hasKeyField } = answers;
  const understanding = { tools, operations, whose, rule, repeat, hasKeyField };
  const flights = createFlights(wires.sendToServer);
  const underWay = createUnderWay();
  const rounds = createRounds(reply);

  async function reply({ id }: Waiting, answer: Answer): Promise<void> {
    await wires.sendToHost(answerText(id, complete(answer, host.isStateless)));
  }

  async function take(request: Request, bytes: () => Buffer | string): Promise<void> {
    onEvent("call");
    if (flights.isWaiting(request)) return;
    const waiting: Waiting = { id: request.id, arrivedAt: clock.monotonic() };
    const goesOn = rounds.goOn(waiting, request.params);
    // From here on it may be cancelled by this id.
    if (goesOn) return flights.begin(request, goesOn);
    const stop = new AbortController();
    let sending: Call["sending"] | undefined;
    const flight = { waiting, stop, upstream: () => sending?.requestId };
    flights.begin(request, flight);
    try {
      const asking = {
        signal: stop.signal,
        askHost: (row: string, result: Fields) => rounds.ask(flight, row, result),
      };
      const call = await understand(request.params, asking, understanding);
      if (call === "pass") {
        void trackedCalls.requested(undefined);
        // From here on the server knows it by this id.
        flights.end(flight);
        if (!stop.signal.aborted) await wires.passToServer(request, bytes());
        return;
      }
      onEvent("guarded");
      ({ sending } = call);
      void trackedCalls.requested(call.row);
      const open = rounds.openIn(call.row, request.params);
      if (open) return await reply(waiting, open);
      const isSecond = trackedCalls.isBusy(call.row);
      await trackedCalls.inTurn(call.row, () => guarded({ ...call, isSecond }, request, flight));
    } catch (error) {
      await refuse(flight.waiting ?? waiting, error);
    } finally {
      flights.end(flight);
    }
  }

  /** What answers a call with these parameters needs. */
  function partsFor(params: Fields): CallParts {
    const people = peopleFor({ hf, server, user, host, toHost, params });
    const known = { hf, ledger, operations, trackedCalls, rewordings, failures, readTask };
    return { ...known, people, withinMs, onEvent };
  }

  async function guarded(call: Call, { params }: Request, flight: Flight): Promise<void> {
    const parts = partsFor(params);
    const answered = await answerCall(call, parts);
    own.remember(operations.idOf(call.tool, answered.tracked.key), call);
    await deliver(answered, parts.people.question(), flight);
  }

  async function refuse(waiting: Waiting, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    const answer = wordsAnswer({ ok: false, message: `Nothing was sent. ${why}` }, true);
    await reply(waiting, answer).catch(() => {});
  }

  async function deliver(
    { answer, tracked }: CallAnswer,
    question: object | undefined,
    { waiting, stop }: Flight,
  ): Promise<void> {
    // A request that was cancelled gets no answer.
    if (!waiting || stop.signal.aborted) return trackedCalls.noteAnswer(tracked, "", false);
    try {
      await reply(waiting, question ? { result: question } : answer);
      const inTime = clock.monotonic() - waiting.arrivedAt <= patienceMs;
      trackedCalls.noteAnswer(tracked, waiting.id, inTime && !stop.signal.aborted);
    } catch {
      trackedCalls.noteAnswer(tracked, waiting.id, false);
    }
  }

  async function ownTool(request: Request): Promise<void> {
    void trackedCalls.requested(undefined);
    const { params, id } = request;
    const waiting = { id, arrivedAt: clock.monotonic() };
    const stop = new AbortController();
    const flight = { waiting, stop, upstream: () => undefined };
    flights.begin(request, flight);
    const thread = threadOf(whose, conversationOf(params._meta));
    const parts = partsFor(params);
    try {
      const answered = await own.answer(fieldsOf(params), thread, parts, (call) => ({
        ...call,
        signal: stop.signal,
        sending: {
          ...call.sending,
          answer: undefined,
          requestId: undefined,
          askHost: (result) => rounds.ask(flight, call.row, result),
        },
      }));
      if ("tracked" in answered) await deliver(answered, parts.people.question(), flight);
      else await reply(waiting, answered);
    } catch (error) {
      await refuse(waiting, error);
    } finally {
      flights.end(flight);
    }
  }

  function leave(): Promise<void> {
    rounds.end();
    return presence.end().catch(() => {});
  }

  return {
    fromHost(message, bytes) {
      if (message.kind === "notification" && message.method === "notifications/cancelled") {
        trackedCalls.cancelled(message.params.requestId as Id);
        return flights.cancel(message.params);
      }
      if (message.kind !== "request") {
        const isCall = "method" in message && message.method === "tools/call";
        if (isCall) log("A tools/call without an id was dropped.");
        return isCall;
      }
      const { method, params, id } = message;
      host = factsIn(message, host);
      if (method === "tools/call") {
        const size = bytes().length;
        if (!underWay.hasRoom(size)) return "no_room";
        underWay.run(own.has(params.name) ? ownTool(message) : take(message, bytes), size);
        return true;
      }
      if (method !== "ping") void trackedCalls.requested(undefined);
      answers.expect(id, method);
      return false;
    },
    fromServer(message) {
      tools.heard(message);
      if (message.kind !== "answer") return undefined;
      // The server does not know a guarded call by this id, and cannot answer it.
      return flights.has(message.id) ? null : answers.changed(message.id, message.answer);
    },
    idle: underWay.idle,
    awaitsReceipt: trackedCalls.awaitsReceipt,
    hostEnded: (inGoodOrder) =>
      (inGoodOrder ? trackedCalls.requested(undefined) : Promise.resolve()).then(leave),
    leave,
    async close() {
      await trackedCalls.written();
      await leave();
    },
  };
}
