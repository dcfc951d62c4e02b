/**
 * Ready rules for `@modelcontextprotocol/server-filesystem`. Its hints say which tools read and which destroy.
 *
 * @module
 */

import type { ToolRules } from "../guard/rules.ts";

export const filesystem: ToolRules = {
  write_file: {
    about: ["path"],
    readWith: {
      tool: "read_text_file",
      arguments: { path: "$intent.path" },
      single: true,
      match: { content: "$intent.content" },
    },
  },
  // Both end with one rename: an error means that there was none.
  edit_file: { about: ["path"], isErrorMeans: "rejected" },
  move_file: { about: ["source"], isErrorMeans: "rejected" },
  // To make it twice is to make it once.
  create_directory: { about: ["path"], keyed: { forMs: 3_600_000 } },
};
