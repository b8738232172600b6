// Epochs: which data of older revisions a revision of a snap can read (snapd's snap/epoch.go).

export interface Epoch {
  /** The epochs whose data it understands; not empty, rising. */
  read: number[];
  /** The epochs in which it leaves its data; not empty, rising. */
  write: number[];
}

export const firstEpoch: Epoch = { read: [0], write: [0] };

/** At most so many epochs stand in one list (snapd refuses more). */
const most = 10;

/**
 * Reads what snap.yaml says: `0`, `"1*"` (reads the one before as well), or both lists, of which a missing one is
 * taken from the other. Nothing when it is none of these.
 */
export function readEpoch(text: unknown): Epoch | undefined {
  if (text === undefined || text === null) return firstEpoch;
  if (typeof text === 'string' || typeof text === 'number') return shortEpoch(String(text));
  if (typeof text !== 'object' || Array.isArray(text)) return undefined;
  const { read, write, ...others } = text as { read?: unknown; write?: unknown };
  if (Object.keys(others).length > 0) return undefined;
  const [reads, writes] = [epochList(read), epochList(write)];
  if (reads === null || writes === null) return undefined;
  const epoch = { read: reads ?? writes ?? [0], write: writes ?? [reads?.at(-1) ?? 0] };
  // Whoever writes an epoch that he cannot read would lock himself out.
  return epoch.read.some((number) => epoch.write.includes(number)) ? epoch : undefined;
}

function shortEpoch(text: string): Epoch | undefined {
  const [, digits, star] = /^(0|[1-9]\d{0,8})(\*?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits);
  if (star === '') return { read: [number], write: [number] };
  return number === 0 ? undefined : { read: [number - 1, number], write: [number] };
}

/** Nothing when the list is not given, null when it is none. */
function epochList(value: unknown): number[] | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > most) return null;
  const numbers = value.map((one) => (/^(?:0|[1-9]\d{0,8})$/.test(String(one)) ? Number(one) : NaN));
  return numbers.every((number, at) => number > (numbers[at - 1] ?? -1)) ? numbers : null;
}

/** Whether a revision understands the data that another has left behind. */
export const canRead = (revision: Epoch, before: Epoch): boolean =>
  revision.read.some((number) => before.write.includes(number));
