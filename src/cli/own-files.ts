/**
 * Where the files of this package are. In one module, because the build puts modules together, and a module that asks
 * for its own place finds itself in another folder then.
 *
 * @module
 */

import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** This module is in `src/cli`, in `dist/cli` or in `dist/shared`: two folders deep, each. */
const ROOT = new URL("../../", import.meta.url);
const ENDING = extname(fileURLToPath(import.meta.url));
const CODE = ENDING === ".ts" ? "src" : "dist";

/** A file beside `src` in the repository, and beside `dist` in the package. */
export const ownFile = (path: string): URL => new URL(path, ROOT);

/** A module that is loaded by its address: its path in `src`, without the ending. `src/bundle.ts` has to list it. */
export const ownModule = (path: string): URL => ownFile(`${CODE}/${path}${ENDING}`);
