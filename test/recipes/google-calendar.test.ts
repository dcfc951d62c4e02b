import { expect, test } from "vitest";
import { googleCalendarEvent } from "../../src/recipes/records/google-calendar.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

/** Google Calendar as documented: an id that is taken is 409, `duplicate`; a deleted event is there, `cancelled`. */
async function openCalendar() {
  const kept = new Map<string, { id: string; htmlLink: string; status: string }>();
  let declined = false;
  const fake = await startFake(({ method, path, json }) => {
    if (method === "GET") {
      const found = kept.get(path.split("/").at(-1) ?? "");
      return found ? { body: found } : { status: 404, body: { error: { code: 404 } } };
    }
    const reason = "timeRangeEmpty";
    if (declined) return { status: 400, body: { error: { code: 400, errors: [{ reason }] } } };
    const id = `${json?.id}`;
    if (!/^[a-v0-9]{5,1024}$/.test(id)) return { status: 400, body: { error: { code: 400 } } };
    if (kept.has(id)) return { status: 409, body: { error: { code: 409 } } };
    const event = { id, htmlLink: `https://calendar.example/${id}`, status: "confirmed" };
    kept.set(id, event);
    return { body: event };
  });
  return {
    fake,
    kept,
    definition: googleCalendarEvent({ authorization: "Bearer x", baseUrl: fake.url }),
    effects: () => kept.size,
    makeForeign: () => void kept.set("abcde", { id: "abcde", htmlLink: "", status: "confirmed" }),
    decline: () => {
      declined = true;
    },
  };
}

const ARGS = {
  calendarId: "primary",
  summary: "Review",
  start: { dateTime: "2026-11-18T10:00:00Z" },
  end: { dateTime: "2026-11-18T11:00:00Z" },
};

recipeContract("googleCalendarEvent", {
  licence: "absent",
  recognises: true,
  says: true,
  open: async () => {
    return { ...(await openCalendar()), args: ARGS, reworded: { ...ARGS, location: "Room 2" } };
  },
});

test("an event that was deleted since is not made again", async () => {
  const stage = openStage();
  const { fake, kept, definition } = await openCalendar();
  fake.lose("after");
  const run: typeof definition.run = async (...given) => {
    try {
      return await definition.run(...given);
    } finally {
      for (const [id, event] of kept) kept.set(id, { ...event, status: "cancelled" });
    }
  };
  const outcome = await stage.call(stage.tool({ ...definition, run, commitsWithinMs: 1 }), ARGS);
  expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect(fake.writes.length).toBe(1);
});
