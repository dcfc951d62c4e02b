/**
 * Hosts that throw their disk away between runs: a ledger there survives nothing.
 *
 * Only those that always do. Where a volume can be mounted, nobody can tell from here.
 *
 * @module
 */

const HOSTS: readonly (readonly [variable: string, host: string])[] = [
  ["VERCEL", "Vercel"],
  ["NETLIFY", "Netlify"],
  ["AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"],
  ["K_SERVICE", "Cloud Run"],
  ["CLOUD_RUN_JOB", "Cloud Run"],
  ["FUNCTION_TARGET", "Cloud Functions"],
  ["CF_PAGES", "Cloudflare Pages"],
  ["DYNO", "Heroku"],
];

/** The name of the host whose disk is forgotten, or `undefined` if none is known to be. */
export function diskIsForgotten(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return HOSTS.find(([variable]) => env[variable])?.[1];
}
