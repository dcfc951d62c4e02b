import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import manifest from "../../../../package.json" with { type: "json" };
import { KNOWN_CLIENTS } from "../../../../src/integrations/shared/retries/retry-catalogue.ts";
import { openHoldfire } from "../owning.ts";

type OwnRetries = (client: unknown, hf: unknown) => unknown;

const owned = KNOWN_CLIENTS.flatMap(({ subpath }) => (subpath === undefined ? [] : [subpath]));
const fileOf = (subpath: string) =>
  subpath.replace("holdfire/", "src/integrations/").concat("/index.ts");
const load = async (subpath: string): Promise<OwnRetries> =>
  (await import(pathToFileURL(fileOf(subpath)).href)).ownRetries;

describe.each(owned)("%s", (subpath) => {
  it("has an ownRetries", async () => {
    expect(existsSync(fileOf(subpath))).toBe(true);
    expect(await load(subpath)).toBeTypeOf("function");
  });

  it("refuses what it does not know, with a clear error", async () => {
    const ownRetries = await load(subpath);
    const hf = openHoldfire();
    for (const client of [undefined, null, 7, "client", () => {}]) {
      expect(() => ownRetries(client, hf)).toThrow(
        expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT" }),
      );
    }
  });

  it("refuses a holdfire that is none, and one that is closed", async () => {
    const ownRetries = await load(subpath);
    expect(() => ownRetries({ withOptions() {} }, {})).toThrow(
      expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT" }),
    );
    const hf = openHoldfire();
    await hf.close();
    expect(() => ownRetries({ withOptions() {} }, hf)).toThrow(
      expect.objectContaining({ code: "ERR_HOLDFIRE_CLOSED" }),
    );
  });
});

/** Octokit is given options, and any object may be that. */
it.each(owned.filter((subpath) => subpath !== "holdfire/octokit"))(
  "%s lists what is known when it is given something else",
  async (subpath) => {
    const ownRetries = await load(subpath);
    const hf = openHoldfire();
    for (const name of owned) expect(() => ownRetries({}, hf)).toThrow(name);
  },
);

it("every version that was looked at is the one that is tested here", () => {
  const tested: Readonly<Record<string, string>> = {
    ...manifest.devDependencies,
    "@aws-sdk": manifest.devDependencies["@aws-sdk/client-s3"],
    "p-retry": manifest.dependencies["p-retry"].replace("^", ""),
  };
  const stale = KNOWN_CLIENTS.filter(({ name, version }) => (tested[name] ?? version) !== version);
  expect(stale.map(({ name }) => name)).toEqual([]);
});
