// Parses sizes as people write them: "32 GiB".

const units = new Map([
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
  ['TiB', 2 ** 40],
]);

/** The bytes of a size with the shape ByteSize of schemas/config.json. */
export function parseByteSize(size: number | string): number {
  if (typeof size === 'number') return size;
  const [, count, unit = ''] = /^([0-9]+) ?(\w+)$/.exec(size) ?? [];
  const factor = units.get(unit);
  if (factor === undefined) throw new Error(`cannot read the size '${size.slice(0, 40)}'`);
  return Number(count) * factor;
}
