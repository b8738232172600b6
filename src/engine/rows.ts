// Copies all rows of a store from one engine to another: read from one snapshot, written unchanged, and read back. Triggers do not run; the
// rows that they made are copied as well.
import { computeDigest } from '#domain/cryptography.ts';

/** A value as it is stored: whole numbers of any size are bigint, numbers with a fraction are number. */
export type Cell = string | bigint | number | Uint8Array | null;

export interface StoreTable {
  name: string;
  columns: readonly string[];
}

/** A snapshot of a database. */
export interface RowSource {
  /** Returns the tables of the store, without the internal tables of an engine. */
  tables(): Promise<StoreTable[]>;
  /** Reads the rows of a table in batches, with the values of each row in the order of the columns. */
  read(table: StoreTable): AsyncIterable<Cell[][]>;
}

/** A database that is not in use yet. It has the tables of a new store, without rows. */
export interface RowTarget extends RowSource {
  /** Returns the tables so that each comes after the tables that it refers to. */
  tables(): Promise<StoreTable[]>;
  write(table: StoreTable, rows: Cell[][]): Promise<void>;
}

/** The number of rows of a table, and a checksum over all of them that does not depend on their order. */
export interface TableChecksum {
  rows: number;
  sum: bigint;
}

export interface RowCopyOptions {
  /** Returns whether to skip the rows of a table. */
  leave?: (table: string) => boolean;
  /** Called with the number of rows copied so far. An error that it throws ends the copying. */
  progress?: (rows: number) => void;
}

/** Maximum size of a batch: bytes of values, and rows. */
export const batch = { bytes: 1024 * 1024, rows: 1000 };

/** The copied rows differ from the rows that were read, or the tables differ. */
export class CopyMismatch extends Error {}

/** A database that should be empty is not. The message is for a person. */
export class DatabaseNotEmpty extends Error {}

/** Returns whether the error is DatabaseNotEmpty. */
export const isDatabaseNotEmpty = (error: unknown): error is DatabaseNotEmpty => error instanceof DatabaseNotEmpty;

/** Copies all rows and reads them back. Returns the count and checksum of each table. Throws CopyMismatch. */
export async function copyRows(
  from: RowSource,
  to: RowTarget,
  { leave = () => false, progress }: RowCopyOptions = {},
): Promise<Map<string, TableChecksum>> {
  const sourceTables = new Map((await from.tables()).map((table) => [table.name, table]));
  const tables = await to.tables();
  requireSame([...sourceTables.values()], tables);
  const counted = new Map<string, TableChecksum>();
  let rows = 0;
  const reportRows = (more: number): void => progress?.((rows += more));
  for (const table of tables) {
    const sum = newSum();
    if (!leave(table.name)) {
      // Use the columns in the order of the source; the target may have another order.
      const columns = sourceTables.get(table.name)!;
      for await (const some of from.read(columns)) {
        await to.write(columns, some);
        sum.add(some);
        reportRows(some.length);
      }
    }
    counted.set(table.name, sum.counted());
  }
  for (const { name } of tables) {
    const copied = await countRows(to, sourceTables.get(name)!);
    const { rows, sum } = counted.get(name)!;
    if (copied.rows !== rows || copied.sum !== sum) {
      throw new CopyMismatch(
        `the copy of the table ${name} differs from the source: ${String(copied.rows)} rows for ${String(rows)}`,
      );
    }
  }
  return counted;
}

/** Reads a whole table and counts it. */
export async function countRows(source: RowSource, table: StoreTable): Promise<TableChecksum> {
  const sum = newSum();
  for await (const some of source.read(table)) sum.add(some);
  return sum.counted();
}

/** Returns a checksum that changes if a row is added, lost or changed. It detects accidents, not attacks. */
function newSum(): { add(rows: readonly Cell[][]): void; counted(): TableChecksum } {
  let [count, sum] = [0, 0n];
  return {
    add(rows) {
      for (const row of rows) sum += BigInt(`0x${computeDigest('row', row.map(marked).join('\u0000')).slice(0, 32)}`);
      sum = BigInt.asUintN(128, sum);
      count += rows.length;
    },
    counted: () => ({ rows: count, sum }),
  };
}

function marked(cell: Cell): string {
  if (cell === null) return 'n';
  if (typeof cell === 'string') return `t${String(cell.length)}:${cell}`;
  if (typeof cell === 'bigint') return `i${String(cell)}`;
  if (typeof cell === 'number') return `r${String(cell)}`;
  return `b${Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('base64')}`;
}

function requireSame(source: readonly StoreTable[], target: readonly StoreTable[]): void {
  const shape = (tables: readonly StoreTable[]): Map<string, string> =>
    new Map(tables.map(({ name, columns }) => [name, [...columns].sort().join(' ')]));
  const [sourceShapes, other] = [shape(source), shape(target)];
  const different = [...sourceShapes.keys(), ...other.keys()].find(
    (name) => sourceShapes.get(name) !== other.get(name),
  );
  if (different !== undefined)
    throw new CopyMismatch(`the table ${different} differs between source and target: different releases made them`);
}

/** Estimates the bytes of a row, for the size of batches. */
export const sizeOf = (row: readonly Cell[]): number =>
  row.reduce<number>(
    (size, cell) => size + (typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8),
    0,
  );
