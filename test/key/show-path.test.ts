import { expect, test } from "vitest";
import { showPath } from "../../src/key/show-path.ts";

test("a path reads as a person would write it", () => {
  expect(showPath("intent", [])).toBe("intent");
  expect(showPath("intent", ["items", 3, "price"])).toBe("intent.items[3].price");
  expect(showPath("intent", ["odd key", "", "é", "0", "$ok_1"])).toBe(
    'intent["odd key"][""]["é"]["0"].$ok_1',
  );
});

test("quotes and control characters in a name are escaped", () => {
  expect(showPath("", ['a"]\u0007'])).toBe(String.raw`["a\"]\u0007"]`);
});

test("a long name is cut at 64 characters", () => {
  expect(showPath("a", ["k".repeat(64)])).toBe(`a.${"k".repeat(64)}`);
  expect(showPath("a", ["k".repeat(65)])).toBe(`a["${"k".repeat(64)}…"]`);
});
