/**
 * The page and its two files. They have no data, so they are served to anyone whom the handler answers at all.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { respond } from "./responses.ts";

const TYPES = {
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
} as const;

type FileName = keyof typeof TYPES;
const isFileName = (route: string): route is FileName => Object.hasOwn(TYPES, route);

/** The icon is data in the page: one request less, and no icon of another program of the same host. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>holdfire console</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='6' fill='none' stroke='%23b4530a' stroke-width='3'/%3E%3C/svg%3E">
<link rel="stylesheet" href="app.css">
</head>
<body>
<div id="app"><noscript>The console needs JavaScript. In a terminal: npx holdfire inbox</noscript></div>
<script type="module" src="app.js"></script>
</body>
</html>
`;

export async function fileOf(route: string, request: Request): Promise<Response | undefined> {
  if (route === "") return respond(PAGE, "text/html; charset=utf-8");
  if (!isFileName(route)) return undefined;
  // Loaded when it is first asked for: who imports the handler pays nothing for the page.
  const { loadAssets } = await import("./assets.ts");
  const text = (await loadAssets())[route];
  const tag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  const headers = { "cache-control": "no-cache", etag: tag };
  if (request.headers.get("if-none-match") === tag) {
    return respond(null, TYPES[route], { status: 304, headers });
  }
  return respond(text, TYPES[route], { headers });
}
