/**
 * A Google Calendar event, whose id is the key: an id may have the letters a to v and digits, so the hexadecimal digits of the key fit.
 *
 * Source: developers.google.com/workspace/calendar/api/v3/reference/events, field `id`: "due to the globally distributed nature of
 * the system, we cannot guarantee that ID collisions will be detected at event creation time". So the id finds an event, and
 * nothing is sent again on the strength of it.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** A day, or a time with its zone. */
export type CalendarTime =
  | { readonly date: string }
  | { readonly dateTime: string; readonly timeZone?: string };

/** Description, place and guests are no part of the intent. */
export interface CalendarEventArguments {
  /** `primary`, or the id of a calendar. */
  readonly calendarId: string;
  readonly summary: string;
  readonly start: CalendarTime;
  readonly end: CalendarTime;
  readonly description?: string;
  readonly location?: string;
  readonly attendees?: readonly { readonly email: string }[];
}

/** An event of this summary at this time is wanted once. */
export type CalendarEventIntent = Pick<
  CalendarEventArguments,
  "calendarId" | "summary" | "start" | "end"
>;

/** An event that is there. */
export interface CalendarEvent {
  readonly id: string;
  readonly url?: string | undefined;
  readonly status?: string | undefined;
}

/** An event. */
export function googleCalendarEvent(
  access: ServiceAccess,
): ToolWithInput<CalendarEventArguments, CalendarEventIntent, CalendarEvent> {
  return serviceAt(access, "https://www.googleapis.com").tool({
    name: "google_calendar_event",
    service: "google_calendar",
    intent: ({ calendarId, summary, start, end }) => ({ calendarId, summary, start, end }),
    path: "/calendar/v3/calendars/{calendarId}/events",
    keyForm: (key) => key.replaceAll("-", ""),
    body: ({ calendarId: _, ...event }, { key }) => ({ ...event, id: key }),
    find: "/calendar/v3/calendars/{calendarId}/events/{key}",
    result: eventOf,
    // An event that was deleted is still there, cancelled.
    standing: ({ status }) => (status === "cancelled" ? "open" : "done"),
    effect: { id: ({ id }) => id },
  });
}

const eventOf = (event: unknown): CalendarEvent => ({
  id: textAt(event, "id"),
  url: maybeTextAt(event, "htmlLink"),
  status: maybeTextAt(event, "status"),
});
