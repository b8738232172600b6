// Epochs: which data of older revisions a revision of a snap can read (snapd's snap/epoch.go).

export interface Epoch {
  /** The epochs of the data that it can read; not empty, ascending. */
  read: number[];
  /** The epochs of the data that it writes; not empty, ascending. */
  write: number[];
}

export const firstEpoch: Epoch = { read: [0], write: [0] };

/** The maximum number of epochs in a list (snapd refuses more). */
const maxEpochs = 10;
const maxEpoch = 2 ** 32 - 1;

/**
 * Parses the epoch of a snap.yaml: `0`, `"1*"` (also reads the epoch before), or lists for `read` and `write`. Without
 * `read` it reads the epochs that it writes; without `write` it writes the last epoch that it reads. Returns undefined
 * for any other value.
 */
export function readEpoch(text: unknown): Epoch | undefined {
  if (text === undefined || text === null) return firstEpoch;
  if (typeof text === 'string' || typeof text === 'number') return parseShortEpoch(String(text));
  if (typeof text !== 'object' || Array.isArray(text)) return undefined;
  const { read, write } = text as { read?: unknown; write?: unknown };
  const [reads, writes] = [parseEpochList(read), parseEpochList(write)];
  if (reads === null || writes === null) return undefined;
  const epoch = { read: reads ?? writes ?? [0], write: writes ?? [reads?.at(-1) ?? 0] };
  // A snap must be able to read its own data, else it could not be refreshed to itself.
  return epoch.read.some((number) => epoch.write.includes(number)) ? epoch : undefined;
}

function parseShortEpoch(text: string): Epoch | undefined {
  const [, digits = '', star] = /^([^*]*)(\*?)$/s.exec(text) ?? [];
  const number = parseEpochNumber(digits);
  if (Number.isNaN(number)) return undefined;
  if (star === '') return { read: [number], write: [number] };
  return number === 0 ? undefined : { read: [number - 1, number], write: [number] };
}

/** NaN if the text is not an epoch. */
function parseEpochNumber(text: string): number {
  const number = /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : NaN;
  return number <= maxEpoch ? number : NaN;
}

/** Undefined if there is no list, null if it is not a valid list of epochs. */
function parseEpochList(value: unknown): number[] | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > maxEpochs) return null;
  const numbers = value.map((epoch) => parseEpochNumber(String(epoch)));
  return numbers.every((number, at) => number > (numbers[at - 1] ?? -1)) ? numbers : null;
}

/** Whether a revision can read the data that another has written. */
export const canRead = (revision: Epoch, before: Epoch): boolean =>
  revision.read.some((number) => before.write.includes(number));
