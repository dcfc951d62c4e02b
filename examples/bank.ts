/**
 * The bank of the examples, on this machine: it pays, loses its first reply, and can be asked what it has paid.
 * In your project its place is taken by the client that you have of your service.
 *
 * Beside it runs a local server that plays the model, so that no example needs an account.
 *
 * @module
 */

import { type OAuthBank, startWorld, type World } from "./support/world.ts";

export type { Paid, Payout } from "./support/world.ts";

export const world: World = await startWorld();
export const bank: OAuthBank = world.bank;

Object.assign(process.env, {
  OPENAI_API_KEY: "-",
  OPENAI_BASE_URL: world.model.openai,
  ANTHROPIC_API_KEY: "-",
  ANTHROPIC_BASE_URL: world.model.anthropic,
});
