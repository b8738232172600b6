// Opens the store for commands on the host, alongside a serving process or without one.
import { existsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Actor } from '#acts/act.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import { createTimeKeeper } from '#jobs/store/remember-time.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';
import { openStore, type StoreHandle } from '#data/store.ts';
import type { Upgrade } from '#data/upgrade.ts';
import { DataDirectoryInUse } from '#data/lock.ts';
import { databaseFile } from '#data/records-place.ts';
import { readConfig } from '#configuration/config.ts';
import { nearest } from '#domain/nearest.ts';
import { Failure, type CommandCall, type World } from './command.ts';
import { becomeOwner, suspendRoot, type AsCaller } from './owner.ts';

export interface OpenStore extends StoreHandle {
  /** The author of changes in the audit log. */
  actor: string;
  person: Actor;
  /** Runs work on files outside of the data directory; has the caller's rights only with `writesOutside`. */
  asCaller: AsCaller;
}

/**
 * Opens the store of a command's data directory, as the owner of the directory, while `work` runs. Drops root's rights
 * permanently, unless the command also writes outside of the directory.
 */
export async function withStore<Result>(
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  work: (store: OpenStore) => Result | Promise<Result>,
  { writesOutside = false }: { writesOutside?: boolean } = {},
): Promise<Result> {
  const person = world.actor ?? { actor: actorOf(world) };
  let asCaller: AsCaller = async (work) => work();
  if (writesOutside) asCaller = suspendRoot(data);
  else becomeOwner(data);
  const store = await openUpgraded(data, world);
  try {
    return await work({ ...store, actor: person.actor, person, asCaller });
  } finally {
    await store.close();
  }
}

/** Refuses a data directory without its database: opening it would create a new, empty store. */
export function refuseWithoutDatabase(data: string): void {
  const configuration = join(data, 'larder.toml');
  if (!existsSync(configuration)) return;
  const file = databaseFile(data);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && stats.size > 0) return;
  // A missing database on a server is reported when it is opened.
  if (readConfig(configuration).records.postgres !== undefined) return;
  throw new Failure(
    `the database ${file} is ${stats === undefined ? 'missing' : 'empty'}; put it back, or move ${data} aside ` +
      `and restore the last backup: 'larder restore FILE --data ${shellWord(data)} --keys DIR'`,
    { code: 'store-damaged' },
  );
}

/** Refuses an operation that needs a database file if the records are on a server; `instead` is the remedy. */
export function refuseOnServer(data: string, instead: string): void {
  const configuration = join(data, 'larder.toml');
  if (!existsSync(configuration) || readConfig(configuration).records.postgres === undefined) return;
  throw new Failure(`the records of ${data} are on a PostgreSQL server: ${instead}`, { code: 'on-postgres' });
}

/** Opens a store like `openStore`, and reports an upgrade of data of an older release. */
export async function openUpgraded(data: string, world: World): Promise<StoreHandle> {
  refuseWithoutDatabase(data);
  try {
    const store = await openStore({
      directory: data,
      credentials: world.env['CREDENTIALS_DIRECTORY'],
      waits: reportWaiting(world),
    });
    if (store.upgrade !== undefined) {
      world.stderr.write(`larder: upgraded data of an older release; ${asItWas(store.upgrade)}\n`);
    }
    return store;
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    throw new Failure(
      `the store in ${data} is served by an older release; restart the server, so that it brings the data up to date`,
      { exitCode: 3, code: 'data-in-use', cause: error },
    );
  }
}

/** Reports that the command waits for a service that does not respond yet. */
export const reportWaiting =
  ({ stderr }: World) =>
  (place: string): void => {
    stderr.write(`larder: ${place} does not respond yet; waiting for it\n`);
  };

const asItWas = ({ copy }: Upgrade): string =>
  copy === undefined
    ? 'the copy from before is in the backups of the PostgreSQL server'
    : `a copy from before is in ${copy}`;

/** The person at the terminal, such as `cli:ada`. Call it before this process changes its user. */
export function actorOf({ env }: World): string {
  const asRoot = process.getuid?.() === 0;
  const behind = env['SUDO_USER'] ?? '';
  return `cli:${asRoot && /^[\w][\w.@$-]{0,63}$/.test(behind) ? behind : userName()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user is not in /etc/passwd.
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** The latest time that the store has seen. Tokens start and expire by it, even if the clock has been set back. */
export async function readLatestTime({ records, acts, latestTime, now }: StoreHandle): Promise<string> {
  await createTimeKeeper(records, acts, latestTime, now);
  return timestamp(latestTime.now());
}

/** Returns the account with this id. Refuses an unknown id; the error gives the id if a user name was typed. */
export async function findAccount(records: Pick<StoreRecords, 'accounts'>, id: string): Promise<Account> {
  const meant = await records.accounts.findByName(id);
  if (meant?.id === id) return meant;
  const hint = meant ? `; that is a name of the account ${meant.id}` : await hintFor(records, id);
  throw new Refusal('account-not-found', `There is no account with the id '${id}'${hint}.`);
}

async function hintFor({ accounts }: Pick<StoreRecords, 'accounts'>, typed: string): Promise<string> {
  const all = await accounts.list();
  const near = nearest(typed, [...all.map(({ id }) => id), ...all.map(({ username }) => username)]);
  const account = all.find(({ id, username }) => near !== undefined && [id, username].includes(near));
  return account === undefined
    ? "; 'larder account list' lists them"
    : `; did you mean '${account.id}' (${account.username})?`;
}
