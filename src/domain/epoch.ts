// Epochs: which data of older revisions a revision of a snap can read (snapd's snap/epoch.go).

export interface Epoch {
  /** The epochs whose data it understands; not empty, rising. */
  read: number[];
  /** The epochs in which it leaves its data; not empty, rising. */
  write: number[];
}

export const firstEpoch: Epoch = { read: [0], write: [0] };

/** A list has at most this many epochs (snapd refuses more). */
const maxEpochs = 10;
const maxEpoch = 2 ** 32 - 1;

/**
 * Reads the epoch of a snap.yaml: `0`, `"1*"` (reads the one before as well), or lists for `read` and `write`. Without `read` it
 * reads what it writes; without `write` it writes the last that it reads. Undefined for anything else.
 */
export function readEpoch(text: unknown): Epoch | undefined {
  if (text === undefined || text === null) return firstEpoch;
  if (typeof text === 'string' || typeof text === 'number') return shortEpoch(String(text));
  if (typeof text !== 'object' || Array.isArray(text)) return undefined;
  const { read, write } = text as { read?: unknown; write?: unknown };
  const [reads, writes] = [epochList(read), epochList(write)];
  if (reads === null || writes === null) return undefined;
  const epoch = { read: reads ?? writes ?? [0], write: writes ?? [reads?.at(-1) ?? 0] };
  // A snap that could not read what it writes could not be refreshed to itself.
  return epoch.read.some((number) => epoch.write.includes(number)) ? epoch : undefined;
}

function shortEpoch(text: string): Epoch | undefined {
  const [, digits = '', star] = /^([^*]*)(\*?)$/s.exec(text) ?? [];
  const number = epochNumber(digits);
  if (Number.isNaN(number)) return undefined;
  if (star === '') return { read: [number], write: [number] };
  return number === 0 ? undefined : { read: [number - 1, number], write: [number] };
}

/** Not a number if the text is no epoch. */
function epochNumber(text: string): number {
  const number = /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : NaN;
  return number <= maxEpoch ? number : NaN;
}

/** Undefined if the list is not given, null if it is no list of epochs. */
function epochList(value: unknown): number[] | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > maxEpochs) return null;
  const numbers = value.map((epoch) => epochNumber(String(epoch)));
  return numbers.every((number, at) => number > (numbers[at - 1] ?? -1)) ? numbers : null;
}

/** Whether a revision understands the data that another has left behind. */
export const canRead = (revision: Epoch, before: Epoch): boolean =>
  revision.read.some((number) => before.write.includes(number));
