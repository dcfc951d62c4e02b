/**
 * Text that stands in JSON as it is, between quotes: what most names and values are.
 *
 * @module
 */

/** Printable ASCII that JSON does not escape, and that has only one Unicode form. */
const PLAIN = /^[ !#-[\]-~]*$/;

export const isPlainText = (text: string): boolean => PLAIN.test(text);
