// What a person is told whose change, or whose file, found no room on a disk.
import { bytes } from './byte-size.ts';
import { because, Refusal } from './refusal.ts';

/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

const full = (message: string): Refusal => new Refusal('insufficient-storage', message, retryAfter);

/** A change that the disk did not take. */
export const diskFull = (cause: unknown, disk = 'The disk of the store'): Refusal =>
  because(
    cause,
    full(`${disk} is full, so nothing was changed. The administrator of the store has to make room; try again later.`),
  );

/** Bytes of a file, and bytes that no other file was promised, above the reserve. */
export interface RoomFound {
  readonly needed: number;
  readonly free: number;
}

/** A file that is refused, or broken off, since there is no room for all of it. */
export function noRoom(found?: RoomFound): Refusal {
  const numbers =
    found === undefined
      ? ''
      : `: it needs ${bytes(found.needed)}, and ${bytes(Math.max(0, found.free))} are free for uploads (uploads.reserve is kept free)`;
  return full(
    `The store has not enough free space for this${numbers}. Have its administrator make room, or try again later.`,
  );
}
