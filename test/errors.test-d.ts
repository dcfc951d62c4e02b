/** An error is told apart by its `code`, and then says what is there: its reason, and its operation. */
import { expectTypeOf, test } from "vitest";
import type { OperationFacts } from "../src/errors.ts";
import {
  type AnyHoldfireError,
  isHoldfireError,
  type NotAppliedReason,
  type UnknownReason,
} from "../src/index.ts";

test("code narrows reason and operation", () => {
  const told = (error: unknown) => {
    if (!isHoldfireError(error)) return;
    expectTypeOf(error).toEqualTypeOf<AnyHoldfireError>();
    switch (error.code) {
      case "ERR_HOLDFIRE_OUTCOME_UNKNOWN":
        expectTypeOf(error.reason).toEqualTypeOf<UnknownReason>();
        expectTypeOf(error.operation).toEqualTypeOf<OperationFacts>();
        break;
      case "ERR_HOLDFIRE_NOT_APPLIED":
        expectTypeOf(error.reason).toEqualTypeOf<NotAppliedReason>();
        expectTypeOf(error.serviceStatus).toEqualTypeOf<number | undefined>();
        break;
      case "ERR_HOLDFIRE_APPROVAL_REQUIRED":
        expectTypeOf(error.reason).toEqualTypeOf<"approval" | "drift">();
        expectTypeOf(error.operation.id).toEqualTypeOf<string>();
        break;
      case "ERR_HOLDFIRE_MISSING_SCOPE":
        expectTypeOf(error.operation).toEqualTypeOf<OperationFacts | undefined>();
        break;
      default:
        expectTypeOf(error.reason).toEqualTypeOf<string | undefined>();
    }
  };
  expectTypeOf(told).returns.toBeVoid();
});
