// What a person is told whose change, or whose file, found no room on a disk.
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

/** A file that is not begun, or not gone on with, where others were promised what is left. */
export const noRoom = (): Refusal => full('The store has not enough free space for this; try again later.');
