/**
 * How the command line prints text from elsewhere.
 *
 * @module
 */

export { jsonText, visible } from "../key/escape-hidden.ts";
