/**
 * Values that a tool may throw and that bite whoever looks at them.
 *
 * @module
 */

const bite = (): never => {
  throw new Error("hostile");
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cyclic(): object {
  const error: { cause?: unknown; errors?: unknown; raw?: unknown } = {};
  error.cause = error;
  error.errors = [error];
  error.raw = error;
  return error;
}

const KEYS = ["code", "syscall", "cause", "errors", "status", "headers", "response", "raw", "type"];

export const HOSTILE: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["undefined", undefined],
  ["a string", "ECONNREFUSED"],
  ["a number", 404],
  ["a symbol", Symbol("x")],
  ["a function", () => {}],
  ["a frozen object", Object.freeze({})],
  ["an object without prototype", Object.create(null)],
  [
    "throwing getters",
    Object.defineProperties({}, Object.fromEntries(KEYS.map((key) => [key, { get: bite }]))),
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      { get: bite, has: bite, ownKeys: bite, getOwnPropertyDescriptor: bite, getPrototypeOf: bite },
    ),
  ],
  ["a revoked proxy", revoked()],
  [
    "a revoked proxy inside",
    { errors: revoked(), cause: revoked(), headers: revoked(), response: revoked() },
  ],
  ["a cycle", cyclic()],
  ["wrong types everywhere", Object.fromEntries(KEYS.map((key) => [key, 7n]))],
  [
    "methods that throw",
    { headers: { get: bite }, errors: { length: 1e9 }, code: { toString: bite } },
  ],
];
