/**
 * The version of this package. A constant, so that a bundle has it, too.
 *
 * @module
 */

export const VERSION = "0.1.0";
