/**
 * A payments program, as another team may have written it: pays through the bank, ends with 1 if that failed.
 *
 *     BANK_URL=… node pay-program.ts --payee=ana --cents=4000 --idempotency-key=…
 *
 * @module
 */

import { parseArgs } from "node:util";

const text = { type: "string", default: "" } as const;
const { values } = parseArgs({
  options: { payee: text, cents: text, "idempotency-key": text },
});

try {
  const response = await fetch(process.env.BANK_URL ?? "", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": values["idempotency-key"],
    },
    body: JSON.stringify({ payee: values.payee, cents: Number(values.cents) }),
  });
  console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
