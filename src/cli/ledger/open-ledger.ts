/**
 * Opens the ledger that `--store` names, with the database driver of the user's own project.
 *
 * It creates no file and no table: a ledger that is not there is an error, not an empty answer.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createHoldfire, type Holdfire } from "../../create.ts";
import type { Store } from "../../ledger/store.ts";
import type { Witness } from "../../ledger/witness/witness.ts";
import type { PostgresPoolLike } from "../../stores/postgres/index.ts";
import type { RedisClientLike } from "../../stores/redis/index.ts";
import { UnreachableError, UsageError } from "../command.ts";
import type { Terminal } from "../terminal.ts";

interface LedgerChoice extends StoreChoice {
  readonly tenant?: string | undefined;
}

/**
 * Runs `work` with a holdfire on the ledger that was named, and closes both, however it ends. It has no tools, so it
 * fires nothing.
 */
export async function withLedger<T>(
  choice: LedgerChoice,
  terminal: Terminal,
  work: (hf: Holdfire, opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const opened = await openStore(choice, terminal);
  try {
    const { store, witness } = opened;
    const hf = createHoldfire({ store, witness, tenant: choice.tenant });
    try {
      return await work(hf, opened);
    } finally {
      await hf.close();
    }
  } finally {
    await opened.close();
  }
}

/** The options of `LEDGER`, as they were typed. */
interface StoreChoice {
  readonly store?: string | undefined;
  readonly prefix?: string | undefined;
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
}

export interface OpenedStore {
  readonly store: Store;
  /** The witness that the project's own programs use. */
  readonly witness: Witness;
  /** Where it is, without secrets. */
  readonly where: string;
  /** Closes the store and the connection. */
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;

async function openStore(choice: StoreChoice, terminal: Terminal): Promise<OpenedStore> {
  const { defaultWitness } = await import("../../stores/default.ts");
  const connected = await connect(choice, terminal);
  const { store, where } = connected;
  const witness = defaultWitness(store, terminal.env, { cwd: terminal.cwd });
  async function close(): Promise<void> {
    witness.close();
    await store.close();
    await connected.end();
  }
  try {
    await store.open();
  } catch (error) {
    await close().catch(() => {});
    throw unreachable(where, error);
  }
  return { store, witness, where, close };
}

interface Connected {
  readonly store: Store;
  readonly where: string;
  /** Ends the connection, which is ours and not the store's. */
  readonly end: () => Promise<unknown>;
}

function connect(choice: StoreChoice, terminal: Terminal): Promise<Connected> {
  const { store: given } = choice;
  const url =
    given !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(given) ? URL.parse(given) : null;
  if (!url) return openFile(given, terminal);
  const scheme = url.protocol.toLowerCase();
  if (scheme === "redis:" || scheme === "rediss:") return openRedis(url, choice, terminal);
  if (scheme === "postgres:" || scheme === "postgresql:") {
    return openPostgres(url, choice, terminal);
  }
  throw new UsageError(
    `--store cannot open "${url.protocol}//".`,
    "It takes a SQLite path, redis://, rediss://, postgres:// or postgresql://.",
  );
}

async function openFile(given: string | undefined, terminal: Terminal): Promise<Connected> {
  const { env, cwd } = terminal;
  const { sqliteStore } = await import("../../stores/sqlite/index.ts");
  const { defaultPath } = await import("../../stores/default-path.ts");
  const usual = resolve(cwd, given ?? defaultPath(env, cwd));
  const path = existsSync(usual) || given !== undefined ? usual : gatewayLedger(env);
  if (path === undefined || !existsSync(path)) {
    throw new UnreachableError(
      `There is no ledger at ${usual}. Run your program first, or name another with --store.`,
    );
  }
  if (path !== usual) terminal.err(`Reading the ledger of holdfire mcp, ${path}.`);
  return { store: sqliteStore({ path }), where: path, end: async () => {} };
}

/** Where `holdfire mcp` keeps what it knows: hosts start it in any folder. `HOLDFIRE_STORE` names another. */
export function gatewayLedger({
  HOLDFIRE_STORE,
  HOME,
  USERPROFILE,
}: Terminal["env"]): string | undefined {
  const home = HOME || USERPROFILE;
  if (HOLDFIRE_STORE) return HOLDFIRE_STORE;
  return home ? join(home, ".holdfire", "ledger.db") : undefined;
}

async function openRedis(url: URL, choice: StoreChoice, terminal: Terminal): Promise<Connected> {
  const { redisStore } = await import("../../stores/redis/index.ts");
  const driver = loadDriver(["ioredis", "redis"], terminal);
  const { client, ready, end } =
    driver.name === "ioredis" ? ioredis(driver.module, url) : nodeRedis(driver.module, url);
  const where = whereOf(url);
  try {
    await ready();
  } catch (error) {
    await end().catch(() => {});
    throw unreachable(where, error);
  }
  const { prefix } = choice;
  return { store: redisStore({ client, prefix }), where, end };
}

type Loaded = Readonly<Record<string, unknown>>;

function ioredis(module: Loaded, { href }: URL) {
  const Redis = (module.default ?? module) as new (
    url: string,
    options: object,
  ) => RedisClientLike & {
    on(event: string, listener: () => void): void;
    connect(): Promise<unknown>;
    disconnect(): void;
  };
  const client = new Redis(href, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
  });
  // Its errors come back from each command, too.
  client.on("error", () => {});
  return { client, ready: () => client.connect(), end: async () => client.disconnect() };
}

function nodeRedis(module: Loaded, { href }: URL) {
  const createClient = module.createClient as (options: object) => RedisClientLike & {
    on(event: string, listener: () => void): void;
    connect(): Promise<unknown>;
    destroy(): void;
  };
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT_MS };
  const client = createClient({ url: href, socket });
  client.on("error", () => {});
  return { client, ready: () => client.connect(), end: async () => client.destroy() };
}

async function openPostgres(url: URL, choice: StoreChoice, terminal: Terminal): Promise<Connected> {
  const { postgresStore } = await import("../../stores/postgres/index.ts");
  const driver = loadDriver(["pg", "postgres"], terminal);
  const { pool, end } =
    driver.name === "pg" ? pgPool(driver.module, url) : postgresJs(driver.module, url);
  const { schema, table } = choice;
  return { store: postgresStore({ pool, schema, table }), where: whereOf(url), end };
}

function pgPool(module: Loaded, { href }: URL) {
  const Pool = module.Pool as new (
    options: object,
  ) => PostgresPoolLike & { on(event: string, listener: () => void): void; end(): Promise<void> };
  const pool = new Pool({ connectionString: href, connectionTimeoutMillis: CONNECT_MS });
  pool.on("error", () => {});
  return { pool, end: () => pool.end() };
}

function postgresJs(module: Loaded, { href }: URL) {
  const postgres = (module.default ?? module) as (
    url: string,
    options: object,
  ) => PostgresPoolLike & { end(options: object): Promise<void> };
  const pool = postgres(href, { connect_timeout: CONNECT_MS / 1_000, onnotice: () => {} });
  return { pool, end: () => pool.end({ timeout: 1 }) };
}

/** The first of them that the user's project has. holdfire itself depends on none. */
function loadDriver(
  names: readonly [string, string],
  { cwd }: Terminal,
): { readonly name: string; readonly module: Loaded } {
  const require = createRequire(join(resolve(cwd), "package.json"));
  for (const name of names) {
    let path: string;
    try {
      path = require.resolve(name);
    } catch {
      continue;
    }
    return { name, module: require(path) as Loaded };
  }
  throw new UsageError(
    `This store needs a database driver, and there is none in ${resolve(cwd)}.`,
    `Install one there: npm install ${names[0]}, or npm install ${names[1]}`,
  );
}

/** Host and database; never the user, the password or the parameters. */
const whereOf = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${pathname}`;

function unreachable(where: string, error: unknown): UnreachableError {
  const why = error instanceof Error ? error.message : String(error);
  return new UnreachableError(`The ledger at ${where} cannot be opened: ${why}`);
}
