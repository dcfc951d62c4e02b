/**
 * The service of the examples, so that they run without an account: it honours the key, as yours must for
 * `keyed` to be true.
 *
 * @module
 */

/** Lines at the margin of the templates that they stand in. */
export const BANK: string = `/** A stand-in for your service, which answers a repeated key with the first result. */
  const paid = new Map<string, { id: string; payee: string; cents: number }>();
  const bank = {
    async pay(payout: { payee: string; cents: number }, { key }: { key: string }) {
      const done = paid.get(key) ?? { id: crypto.randomUUID(), ...payout };
      paid.set(key, done);
      return done;
    },
  };`;

/** The end of an example: what happens when it is run, and not only imported. */
export const MAIN: string = `/** Run it twice: thread and words are the same, so the same payout is the same operation. */
  if (import.meta.main) {
    console.log(await answer("chat-1", "Pay Ana 40 euros."));
    await hf.close();
  }`;
