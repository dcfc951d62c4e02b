/**
 * Style sheets are imported for the bundler, which puts them into one file.
 *
 * @module
 */

declare module "*.css";
