// All rows of a store, from one engine to another: read as of one moment, written as they are, and read back. Nothing is made
// anew on the way: what triggers have made of the rows comes with them.
import { hash } from 'node:crypto';

/** A value as it is, whole numbers of any size apart from those with a fraction. */
export type Cell = string | bigint | number | Uint8Array | null;

export interface Table {
  name: string;
  columns: readonly string[];
}

/** A database as of one moment. */
export interface RowSource {
  /** Those of the store; what an engine keeps for itself is not among them. */
  tables(): Promise<Table[]>;
  /** The rows of a table in batches of some size, each with its values in the order of the columns. */
  read(table: Table): AsyncIterable<Cell[][]>;
}

/** A database that nobody sees yet: it has the tables of a new store, without a row. */
export interface RowTarget extends RowSource {
  /** Its tables, each behind those that it refers to. */
  tables(): Promise<Table[]>;
  write(table: Table, rows: Cell[][]): Promise<void>;
}

/** How many rows a table has, and a number that follows from all of them, in whatever order they come. */
export interface Counted {
  rows: number;
  sum: bigint;
}

export interface CopyOptions {
  /** Tables whose rows stay behind. */
  leave?: (table: string) => boolean;
  /** Told how many rows have come; what it throws ends the copying. */
  progress?: (rows: number) => void;
}

/** So many bytes of values make a batch, or so many rows. */
export const batch = { bytes: 1024 * 1024, rows: 1000 };

/** What was copied is not what was read, or the tables are not the same. */
export class NotTheSame extends Error {}

/** There is something in the database that should be empty; the message is for a person. */
export class NotEmpty extends Error {}

/** Whether it is that. */
export const isNotEmpty = (error: unknown): error is NotEmpty => error instanceof NotEmpty;

/** Copies all rows, and reads them back; how many there are of each table. Throws NotTheSame. */
export async function copyRows(
  from: RowSource,
  to: RowTarget,
  { leave = () => false, progress }: CopyOptions = {},
): Promise<Map<string, Counted>> {
  const known = new Map((await from.tables()).map((table) => [table.name, table]));
  const tables = await to.tables();
  requireSame([...known.values()], tables);
  const counted = new Map<string, Counted>();
  let rows = 0;
  const tell = (more: number): void => progress?.((rows += more));
  for (const table of tables) {
    const sum = newSum();
    if (!leave(table.name)) {
      // As the source has its columns: they may stand in another order there.
      const columns = known.get(table.name)!;
      for await (const some of from.read(columns)) {
        await to.write(columns, some);
        sum.add(some);
        tell(some.length);
      }
    }
    counted.set(table.name, sum.counted());
  }
  for (const { name } of tables) {
    const there = await countRows(to, known.get(name)!);
    const { rows, sum } = counted.get(name)!;
    if (there.rows !== rows || there.sum !== sum) {
      throw new NotTheSame(
        `what was copied of the table ${name} is not what was read: ${String(there.rows)} rows for ${String(rows)}`,
      );
    }
  }
  return counted;
}

/** Reads a whole table. */
export async function countRows(source: RowSource, table: Table): Promise<Counted> {
  const sum = newSum();
  for await (const some of source.read(table)) sum.add(some);
  return sum.counted();
}

/** One row more or less, or another value, and the sum is another; made for chance, not for an attacker. */
function newSum(): { add(rows: readonly Cell[][]): void; counted(): Counted } {
  let [count, sum] = [0, 0n];
  return {
    add(rows) {
      for (const row of rows) sum += BigInt(`0x${hash('sha256', row.map(marked).join('\u0000')).slice(0, 32)}`);
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

function requireSame(these: readonly Table[], those: readonly Table[]): void {
  const shape = (tables: readonly Table[]): Map<string, string> =>
    new Map(tables.map(({ name, columns }) => [name, [...columns].sort().join(' ')]));
  const [one, other] = [shape(these), shape(those)];
  const strange = [...one.keys(), ...other.keys()].find((name) => one.get(name) !== other.get(name));
  if (strange !== undefined)
    throw new NotTheSame(`the table ${strange} is not the same on both sides: they were made by different releases`);
}

/** Rough, for how much is held at once. */
export const sizeOf = (row: readonly Cell[]): number =>
  row.reduce<number>(
    (size, cell) => size + (typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8),
    0,
  );
