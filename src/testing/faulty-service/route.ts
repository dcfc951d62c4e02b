/**
 * Which part of the service a request is for.
 *
 * @module
 */

import { isToolClass, offerOf, type ToolClass } from "./tool-class.ts";

export type Route =
  | { readonly tag: "write"; readonly class: ToolClass; readonly record: string | undefined }
  | { readonly tag: "list"; readonly class: ToolClass; readonly query: URLSearchParams }
  | { readonly tag: "record"; readonly name: string }
  /** The place exists, the method does not. */
  | { readonly tag: "not_allowed"; readonly allow: string }
  | { readonly tag: "nowhere" }
  /** The target is not one at all. */
  | { readonly tag: "garbage" };

export function route(method: string, target: string): Route {
  // Only a path of our own: an absolute or scheme-relative target would name another host.
  if (!target.startsWith("/") || target.startsWith("//")) return { tag: "garbage" };
  try {
    const { pathname, searchParams } = new URL(target, "http://127.0.0.1");
    const [toolClass = "", place, ...rest] = pathname.slice(1).split("/").map(decodeURIComponent);
    if (!isToolClass(toolClass)) return { tag: "nowhere" };
    if (place === "effects" && rest.length === 0) return toList(method, toolClass, searchParams);
    const [name = "", ...more] = rest;
    const isRecord = toolClass === "conditional" && place === "records" && name !== "";
    return isRecord && more.length === 0 ? toRecord(method, name) : { tag: "nowhere" };
  } catch {
    return { tag: "garbage" };
  }
}

function toList(method: string, toolClass: ToolClass, query: URLSearchParams): Route {
  if (method === "POST") return { tag: "write", class: toolClass, record: undefined };
  const { reads } = offerOf(toolClass);
  if (method === "GET" && reads) return { tag: "list", class: toolClass, query };
  return { tag: "not_allowed", allow: reads ? "GET, POST" : "POST" };
}

function toRecord(method: string, name: string): Route {
  if (method === "PUT") return { tag: "write", class: "conditional", record: name };
  if (method === "GET") return { tag: "record", name };
  return { tag: "not_allowed", allow: "GET, PUT" };
}
