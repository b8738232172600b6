// Reads rows by their keys, some hundred per query.

const batchSize = 500;

/** Reads the rows of distinct keys in batches. */
export async function readInBatches<Row>(
  keys: Iterable<string>,
  read: (batch: readonly string[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const distinct = [...new Set(keys)];
  const rows: Row[] = [];
  for (let from = 0; from < distinct.length; from += batchSize)
    rows.push(...(await read(distinct.slice(from, from + batchSize))));
  return rows;
}
