// The trials on a backup and the store that is restored from it: equality, damaged archives, flipped bits in the database, a changed audit log.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditHash, type AuditRow } from '#records/audit/audit.ts';
import { copyRows, countRows, type Cell, type RowSource, type StoreTable } from '#engine/rows.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { nativeBinding } from '#platform/native.ts';
import { auditVerify } from '../../audit/verify.ts';
import { backup } from '../../backups/backup.ts';
import { restore } from '../../backups/restore.ts';
import { findLost, type Choose, type Ledger } from './publisher.ts';
import { countAttempt, countControl, type Tallies, type TrialTally } from './tally.ts';
import { flipBit, removeFiles } from './trials.ts';
import {
  isReport,
  readVerdict,
  runCommand,
  takeServerErrors,
  underLoad,
  verifyData,
  type ProofContext,
  type TrialStore,
} from './trial-store.ts';

/** Tables that backup and restore write: their entries in the audit log, the export, and the marks of a restored store. */
const writtenByRestore = /^(?:appliance|audit|audit_seal_chain|exports|noun_versions|passing_\w+)$/;
const flipsPerRound = 3;
const maxArchiveFlips = 10;

/** Backs the store up, restores it into another folder, and uses the restored store for the trials that damage it. */
export async function tryRestore(
  context: ProofContext,
  store: TrialStore,
  { folder, tallies }: { folder: string; tallies: Tallies },
): Promise<void> {
  const [archive, restored] = [join(folder, 'backup.tar'), join(folder, 'restored')];
  const restoreAll = async (): Promise<void> => {
    const began = performance.now();
    await runCommand(context, restore, restored, archive, '--keys', store.data);
    context.figures.restoreMs.push(Math.round(performance.now() - began));
  };
  const before = structuredClone(store.ledgers);
  await underLoad(context, store, () => runCommand(context, backup, store.data, archive));
  takeServerErrors(store.ledgers);
  await restoreAll();
  countAttempt(tallies.restore, 'backup while publishers work', await findLostIn(context, store, restored, before));
  for (const path of [archive, restored]) rmSync(path, { recursive: true });

  // A store that stands still, so that the copy can be equal.
  await store.server.stop();
  await runCommand(context, backup, store.data, archive);
  await restoreAll();
  const problems = await findDifferences(store.data, restored);
  problems.push(...(await findLostIn(context, store, restored, store.ledgers)));
  countAttempt(tallies.restore, 'backup of a stopped store', problems);
  await controlArchive(context, store, { archive, folder, tally: tallies.restore });
  rmSync(archive);
  const database = saveDatabase(restored);
  await tryTampers(context, restored, database, tallies['audit-tampers']);
  await tryFlippedDatabase(context, restored, database, tallies['flipped-bits']);
  rmSync(restored, { recursive: true });
}

/** Compares all rows of two stores, and finds blobs that only the other has. `larder verify` finds missing ones. */
async function findDifferences(data: string, other: string): Promise<string[]> {
  const [before, after] = [await countTables(data), await countTables(other)];
  const blobs = new Set(listBlobs(data));
  return [
    ...[...before].filter(([name, sum]) => after.get(name) !== sum).map(([name]) => `the table ${name} differs`),
    ...listBlobs(other)
      .filter((digest) => !blobs.has(digest))
      .map((digest) => `the blob ${digest} is not of the store`),
  ];
}

const listBlobs = (data: string): string[] =>
  readdirSync(join(data, 'blobs/sha3'), { recursive: true, encoding: 'utf8' });

/** The number of rows and a checksum for each table that the restore does not write. */
async function countTables(data: string): Promise<Map<string, string>> {
  const source = sqliteSource(join(data, 'larder.db'), { nativeBinding: nativeBinding() });
  try {
    const sums = new Map<string, string>();
    for (const table of await source.tables()) {
      if (writtenByRestore.test(table.name)) continue;
      const { rows, sum } = await countRows(source, table);
      sums.set(table.name, `${String(rows)} ${String(sum)}`);
    }
    return sums;
  } finally {
    source.close();
  }
}

/** Verifies the restored store, serves it, and looks for every acknowledged change there; returns the problems. */
async function findLostIn(
  context: ProofContext,
  { client }: TrialStore,
  restored: string,
  ledgers: readonly Ledger[],
): Promise<string[]> {
  const problems = await verifyData(context, restored);
  const server = await context.servers.start(restored);
  for (const ledger of ledgers) problems.push(...(await findLost(ledger, { ...client, url: server.url })));
  await server.stop();
  return problems;
}

/** Flips bits of the archive until the restore has refused one. Padding is a small part of an archive. */
async function controlArchive(...[context, store, place]: Parameters<typeof tryFlippedArchive>): Promise<void> {
  let isRefused = false;
  for (let nth = 0; nth < maxArchiveFlips && !isRefused; nth++)
    isRefused = await tryFlippedArchive(context, store, place);
  countControl(place.tally, 'no backup with a flipped bit was refused', isRefused);
}

/** Flips a bit of the archive: the restore must refuse it, unless the bit is of padding and the restored store is equal. */
async function tryFlippedArchive(
  context: ProofContext,
  { data }: TrialStore,
  { archive, folder, tally }: { archive: string; folder: string; tally: TrialTally },
): Promise<boolean> {
  context.signal.throwIfAborted();
  const [damaged, target] = [join(folder, 'damaged.tar'), join(folder, 'refused')];
  writeFileSync(damaged, flipBit(readFileSync(archive), context.choose));
  const isRefused = await runCommand(context, restore, target, damaged, '--keys', data).then(
    () => false,
    (error: unknown) => {
      if (!isReport(error)) throw error;
      return true;
    },
  );
  if (!isRefused) {
    const problems = [...(await findDifferences(data, target)), ...(await verifyData(context, target))];
    countAttempt(tally, 'bit of padding in the backup', problems);
  }
  rmSync(damaged);
  rmSync(target, { recursive: true, force: true });
  return isRefused;
}

interface SavedDatabase {
  readonly file: string;
  readonly bytes: Buffer;
  /** Puts the database and the seal of the audit log back; with other bytes of the database, if they are given. */
  putBack(bytes?: Buffer): void;
}

function saveDatabase(data: string): SavedDatabase {
  const [file, sealFile] = [join(data, 'larder.db'), join(data, 'audit.seal')];
  const [bytes, sealBytes] = [readFileSync(file), readFileSync(sealFile)];
  return {
    file,
    bytes,
    putBack(other = bytes) {
      removeFiles([`${file}-wal`, `${file}-shm`]);
      writeFileSync(file, other);
      writeFileSync(sealFile, sealBytes);
    },
  };
}

async function tryFlippedDatabase(
  context: ProofContext,
  data: string,
  saved: SavedDatabase,
  tally: TrialTally,
): Promise<void> {
  const before = await countTables(data);
  for (let nth = 0; nth < flipsPerRound; nth++) {
    context.signal.throwIfAborted();
    saved.putBack(flipBit(saved.bytes, context.choose));
    const { good } = await readVerdict(context, data);
    // A bit of free space is part of no row. Only if every row reads as before, silence is right.
    const isUnused = good && JSON.stringify([...(await countTables(data))]) === JSON.stringify([...before]);
    const problems = good && !isUnused ? ['verify does not name the damage'] : [];
    countAttempt(tally, isUnused ? 'bit of unused space in the database' : 'bit of the database', problems);
  }
  saved.putBack();
  countControl(tally, 'verify calls an intact database damaged', (await readVerdict(context, data)).good);
}

/** Rows of the audit log, as an intruder who can write the database leaves them. */
type Tamper = (rows: AuditCells[], at: number) => AuditCells[];
type AuditCells = Record<keyof AuditRow, Cell>;

const tampers: Readonly<Record<string, Tamper>> = {
  'row changed': (rows, at) => rows.with(at, { ...rows[at]!, actor: 'someone-else' }),
  'row changed, and the chain of hashes written again': (rows, at) =>
    chain(rows.with(at, { ...rows[at]!, actor: 'someone-else' })),
  'row removed': (rows, at) => rows.toSpliced(at, 1),
  'row removed, and the chain of hashes written again': (rows, at) => chain(renumber(rows.toSpliced(at, 1))),
  'last row removed': (rows) => rows.slice(0, -1),
  'rows exchanged': (rows, at) => {
    const [first, second] = [rows[at]!, rows[at + 1]!];
    return rows.with(at, { ...second, seq: first.seq }).with(at + 1, { ...first, seq: second.seq });
  },
  'row added at the end, with its hash': (rows) => chain(renumber([...rows, { ...rows.at(-1)!, object: 'bin/never' }])),
};

const renumber = (rows: AuditCells[]): AuditCells[] => rows.map((row, at) => ({ ...row, seq: BigInt(at + 1) }));

/** Computes the hashes of all rows again, so that the chain is consistent. It needs no key. */
function chain(rows: AuditCells[]): AuditCells[] {
  let previous = rows[0]!.previous;
  return rows.map((row) => {
    const linked = { ...row, previous };
    const hash = auditHash({ ...linked, seq: Number(row.seq) } as AuditRow);
    previous = hash;
    return { ...linked, hash };
  });
}

/** Changes the audit log in each way: `larder audit verify` must find it. */
async function tryTampers(context: ProofContext, data: string, saved: SavedDatabase, tally: TrialTally): Promise<void> {
  const isIntact = async (): Promise<boolean> => {
    const { json } = await runCommand(context, auditVerify, data);
    return (json as { good: boolean }).good;
  };
  countControl(tally, 'the untouched audit log does not verify', await isIntact());
  const original = join(data, 'larder.db.original');
  for (const [name, tamper] of Object.entries(tampers)) {
    context.signal.throwIfAborted();
    saved.putBack();
    writeFileSync(original, saved.bytes);
    await rewriteAudit(original, saved.file, context.choose, tamper);
    countAttempt(tally, name, (await isIntact()) ? ['the verification does not find it'] : []);
  }
  removeFiles([original]);
  saved.putBack();
}

/** Copies all rows of a database over those of another, with the rows of the audit log changed. */
async function rewriteAudit(from: string, to: string, choose: Choose, tamper: Tamper): Promise<void> {
  const options = { nativeBinding: nativeBinding() };
  const source = sqliteSource(from, options);
  const target = sqliteTarget(to, options);
  try {
    await copyRows(tampered(source, choose, tamper), target);
    target.finish();
  } finally {
    target.close();
    source.close();
  }
}

const tampered = (source: RowSource, choose: Choose, tamper: Tamper): RowSource => ({
  tables: () => source.tables(),
  async *read(table) {
    if (table.name !== 'audit') {
      yield* source.read(table);
      return;
    }
    const rows: AuditCells[] = [];
    for await (const some of source.read(table)) rows.push(...some.map((row) => toAuditCells(table, row)));
    const changed = tamper(rows, choose(rows.length - 1));
    yield changed.map((row) => table.columns.map((column) => row[memberOf(column)]));
  },
});

const memberOf = (column: string): keyof AuditRow =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof AuditRow;

const toAuditCells = ({ columns }: StoreTable, row: readonly Cell[]): AuditCells =>
  Object.fromEntries(columns.map((column, at) => [memberOf(column), row[at]!])) as AuditCells;
