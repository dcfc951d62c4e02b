/**
 * The built page. Here, in the sources, it is built when it is first asked for; `npm run build` puts the built page in
 * the place of this file, so that the package has it as text, without a bundler and without a file to be found.
 *
 * @module
 */

export interface Assets {
  readonly "app.js": string;
  readonly "app.css": string;
}

let building: Promise<Assets> | undefined;

export async function loadAssets(): Promise<Assets> {
  building ??= build();
  return building;
}

async function build(): Promise<Assets> {
  // By its address, so that the compiler does not take the page for a part of the library.
  const { href } = new URL("./ui/build.ts", import.meta.url);
  const { buildPage } = (await import(/* @vite-ignore */ href)) as {
    buildPage(): Promise<Assets>;
  };
  return buildPage();
}
