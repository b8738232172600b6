// Checks a database file without the rest of the store, and copies it while it is in use.
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { createPeriodicSync } from '#files/durable.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { findCorruptRows, type RowPlace } from './row-digests.ts';

export interface SqliteFileOptions {
  /** The loaded native module, if better-sqlite3 cannot find it by itself. */
  nativeBinding?: object | undefined;
}

/** How many pages are copied before they are flushed to the disk. */
const slice = 1000;
/** The maximum of problems to list. */
const maxProblems = 1000;
/**
 * KiB of pages that a check keeps, a quarter of the default of better-sqlite3. A larger cache makes no check of 100,000 revisions faster.
 * malloc keeps the cache when the thread of a server ends: 10 MiB of 39 (`npm run bench -- memory`).
 */
const checkCacheKib = 4096;

/** The problems of a database, each as a clause. */
export interface DatabaseVerdict {
  /** Problems of pages and indexes. If there are any, no row of the database can be relied on. */
  pages: string[];
  /** Problems of single rows: references to missing rows, and rows that differ from their digest. */
  rows: string[];
}

/** Returns all problems of a database. */
export function checkDatabase(file: string, options: SqliteFileOptions = {}): string[] {
  const { pages, rows } = inspectFile(file, options);
  return [...pages, ...rows];
}

/** Checks the pages and indexes of a database, the references between its rows, and each row against its digest. */
export function inspectFile(file: string, options: SqliteFileOptions = {}): DatabaseVerdict {
  const steps = inspect(file, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does the same, and lets other work of the thread continue after the check of the pages and after each table. */
export async function inspectFileInSteps(file: string, options: SqliteFileOptions): Promise<DatabaseVerdict> {
  const steps = inspect(file, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function* inspect(file: string, options: SqliteFileOptions): Generator<undefined, DatabaseVerdict> {
  const rowProblems: string[] = [];
  const pages: string[] = [];
  let db: SQLite.Database | undefined;
  try {
    db = open(file, options);
    db.pragma('cell_size_check = ON');
    db.pragma(`cache_size = -${String(checkCacheKib)}`);
    pages.push(...damagedPages(db));
    yield;
    for (const reference of db.pragma('foreign_key_check') as {
      table: string;
      rowid: number | null;
      parent: string;
    }[]) {
      rowProblems.push(
        `${reference.rowid === null ? 'a row' : `row ${String(reference.rowid)}`} of ${reference.table} refers to nothing in ${reference.parent}`,
      );
      if (rowProblems.length >= maxProblems) break;
    }
    for (const corrupt of findCorruptRows(db)) {
      if (corrupt === undefined) {
        yield;
        continue;
      }
      const { table, row, problem } = corrupt;
      rowProblems.push(`row ${String(row)} of ${table}${packageOf(db, table, row)} is ${problem}`);
      if (rowProblems.length >= maxProblems) break;
    }
  } catch (error) {
    // A page that cannot be read is a finding, not a failure. A lock that another process holds, or a shortage of memory or of
    // descriptors, is no damage.
    if (!(error instanceof SQLite.SqliteError) || /^SQLITE_(?:BUSY|LOCKED|PROTOCOL|NOMEM)/.test(error.code))
      throw error;
    if (error.code.startsWith('SQLITE_CANTOPEN') && isReadable(file)) throw error;
    const plain = unreadable(error, file);
    // If corrupt pages are already named, this general message adds nothing.
    if (pages.length === 0 || plain !== unreadablePages) pages.push(plain);
  } finally {
    db?.close();
  }
  return { pages, rows: rowProblems };
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the package and the revision that a row belongs to, in words; empty if it belongs to none or cannot be read. */
function packageOf(db: SQLite.Database, table: string, row: RowPlace): string {
  if (typeof row === 'string') return packageInKey(db, table, row);
  try {
    const columns = new Set(db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table));
    const id = table === 'packages' ? 'id' : 'package_id';
    if (table !== 'packages' && !columns.has(id)) return '';
    const revision = columns.has('revision') ? 'damaged.revision' : 'NULL';
    const owner = db
      .prepare<[number], { package: string; revision: number | null }>(
        `SELECT packages.namespace || '/' || packages.name AS package, ${revision} AS revision
         FROM "${table}" AS damaged JOIN packages ON packages.id = damaged.${id} WHERE damaged.rowid = ?`,
      )
      .get(row);
    if (owner === undefined) return '';
    return ` (${owner.package}${owner.revision === null ? '' : ` revision ${String(owner.revision)}`})`;
  } catch {
    return '';
  }
}

/** Returns the package that the key of a row begins with, in words. */
function packageInKey(db: SQLite.Database, table: string, key: string): string {
  try {
    const packageName = db
      .prepare<[string, string], string>(
        `SELECT namespace || '/' || name FROM packages WHERE id = json_extract(?, '$[0]')
         AND EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE pk = 1 AND name = 'package_id')`,
      )
      .pluck()
      .get(key, table);
    return packageName === undefined ? '' : ` (${packageName})`;
  } catch {
    return '';
  }
}

/** Returns the corrupt pages and indexes that SQLite finds, in words, each once. */
function damagedPages(db: SQLite.Database): string[] {
  const report = integrityCheck(db);
  if (report.length === 1 && report[0] === 'ok') return [];
  const roots = new Map<number, string>();
  try {
    const all = db.prepare<[], { name: string; type: string; rootpage: number }>(
      'SELECT name, type, rootpage FROM sqlite_master WHERE rootpage > 0',
    );
    for (const { name, type, rootpage } of all.iterate()) roots.set(rootpage, `the ${type} ${name}`);
  } catch {
    // The list of tables itself is corrupt: report page numbers without names.
  }
  return [...new Set(report.flatMap((lines) => lines.split('\n')).flatMap((line) => inWords(line, roots)))];
}

/** Returns the lines of `PRAGMA integrity_check`. It may report a page and then fail because of it; the lines up to there count. */
function integrityCheck(db: SQLite.Database): string[] {
  const lines: string[] = [];
  try {
    for (const line of db.prepare<[], string>('PRAGMA integrity_check(100)').pluck().iterate()) lines.push(line);
  } catch (error) {
    if (lines.length === 0) throw error;
  }
  return lines;
}

/** Turns a line of `PRAGMA integrity_check` into words; returns nothing for a heading. */
function inWords(line: string, roots: ReadonlyMap<number, string>): string[] {
  if (line.startsWith('***')) return [];
  const tree = /^Tree (\d+) page (\d+)/.exec(line);
  if (tree) {
    const owner = roots.get(Number(tree[1]));
    return [`page ${tree[2]!}${owner === undefined ? '' : ` of ${owner}`} is corrupt`];
  }
  const unused = /^Page (\d+):/.exec(line)?.[1];
  if (unused !== undefined) return [`page ${unused} belongs to nothing`];
  const missing = /^row (\d+) missing from index (\S+)/.exec(line);
  if (missing) return [`row ${missing[1]!} is missing from the index ${missing[2]!}`];
  const index = /^wrong # of entries in index (\S+)/.exec(line)?.[1];
  if (index !== undefined) return [`the index ${index} does not list the rows of its table`];
  if (/freelist/i.test(line)) return ['the list of free pages is corrupt'];
  return [/malformed/.test(line) ? unreadablePages : line];
}

const unreadablePages = 'a page is corrupt, and the pages after it cannot be read';

/** Returns why the check of a database had to end. */
function unreadable(error: InstanceType<typeof SQLite.SqliteError>, file: string): string {
  if (error.code === 'SQLITE_NOTADB') return 'its first page is corrupt, so it cannot be read';
  if (error.code.startsWith('SQLITE_CORRUPT')) return unreadablePages;
  if (error.code === 'SQLITE_ERROR') return "its tables are not larder's";
  return inOneSentence(error, { data: dirname(file) });
}

/** Copies a snapshot of a database while other processes read and write it. Ephemeral rows are left out, because they are useless later. */
export async function copyDatabase(
  file: string,
  to: string,
  options: SqliteFileOptions & { progress?: (done: number, total: number) => void } = {},
): Promise<void> {
  const db = open(file, options);
  const copy = createPeriodicSync(to);
  try {
    // Hold one snapshot from here on. Without it, every commit of another process would restart the copy.
    db.exec('BEGIN');
    db.prepare('SELECT COUNT(*) FROM migrations').get();
    let synced = 0;
    await db.backup(to, {
      progress({ totalPages, remainingPages }) {
        const copied = totalPages - remainingPages;
        options.progress?.(copied, totalPages);
        // Flush often: a commit of another process would wait until all unwritten pages of the copy are on the disk.
        if (copied - synced >= slice) {
          synced = copied;
          copy.now();
        }
        return 200;
      },
    });
    emptyEphemeralTables(to, options);
  } finally {
    db.close();
    copy.close();
  }
}

function emptyEphemeralTables(file: string, options: SqliteFileOptions): void {
  const db = open(file, { ...options, readonly: false });
  try {
    const tables = db.prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'passing_*'",
    );
    for (const name of tables.pluck().all()) {
      // If there is nothing to remove, the copy stays identical to the byte.
      if (db.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() !== undefined) db.exec(`DELETE FROM "${name}"`);
    }
  } catch (error) {
    // A corrupt database may be copied as evidence. Such a copy stays as it is.
    if (!(error instanceof SQLite.SqliteError)) throw error;
  } finally {
    db.close();
  }
}

/** Returns the names of the migrations that have run on a database. */
export function migrationsIn(file: string, options: SqliteFileOptions = {}): string[] {
  const db = open(file, options);
  try {
    return db.prepare<[], string>('SELECT name FROM migrations ORDER BY name').pluck().all();
  } finally {
    db.close();
  }
}

/** Moves the content of the write-ahead log into the database, so that one file holds everything. */
export function checkpointLog(file: string, options: SqliteFileOptions = {}): void {
  const db = open(file, { ...options, readonly: false });
  try {
    if (db.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') {
      throw new Error(`cannot close the log of ${file}: another process has the database open`);
    }
  } catch (cause) {
    if (!(cause instanceof SQLite.SqliteError && cause.code.startsWith('SQLITE_BUSY'))) throw cause;
    throw new Error(`cannot close the log of ${file}: another process has the database open`, { cause });
  } finally {
    db.close();
  }
}

function open(
  file: string,
  { nativeBinding, readonly = true }: SqliteFileOptions & { readonly?: boolean },
): SQLite.Database {
  return new SQLite(file, {
    readonly,
    fileMustExist: true,
    timeout: 5000,
    ...(nativeBinding && { nativeBinding: nativeBinding as unknown as string }),
  });
}
