/**
 * What each client goes through: four faults after the payment is made and before the host has its answer, and a second
 * payment that is wanted.
 *
 * @module
 */

/** In each the first payment is made, and then, before it is answered: */
export type Fault = "reply_lost" | "gateway_killed" | "server_killed" | "host_killed";

/** What the model reads last: the server's answer, that it is not known, that it was done before, or a person's no. */
export type Told = "answer" | "unknown" | "done_or_denied";

export interface Column {
  readonly title: string;
  readonly fault?: Fault;
  /** How often the payment is wanted. */
  readonly wanted: 1 | 2;
  readonly repeat: "ask" | "allow";
  /** What the person says who is asked about the second one, by the client or, if it cannot ask, by the model. */
  readonly person?: "yes" | "no";
  /** Payments with the gateway. Without it a fault makes two or three. */
  readonly payments: 1 | 2;
  /** With the gateway. */
  readonly told: Told;
}

const FAULT = { wanted: 1, repeat: "ask", payments: 1 } as const;
const TWICE = { wanted: 2, repeat: "ask", payments: 2, told: "answer" } as const;
const NO = { ...TWICE, payments: 1, told: "done_or_denied", person: "no" } as const;

export const COLUMNS: readonly Column[] = [
  { ...FAULT, title: "Reply lost", fault: "reply_lost", told: "answer" },
  { ...FAULT, title: "Gateway killed", fault: "gateway_killed", told: "unknown" },
  { ...FAULT, title: "Server killed", fault: "server_killed", told: "unknown" },
  { ...FAULT, title: "Host killed, started again", fault: "host_killed", told: "answer" },
  { ...TWICE, title: "Wanted twice: `--repeat allow`", repeat: "allow" },
  { ...TWICE, title: "Wanted twice: a yes", person: "yes" },
  { ...NO, title: "Repeated: a no" },
];
