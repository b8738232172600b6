// The error for an image that mksquashfs cannot have written.
import { Unacceptable } from '../unacceptable.ts';

/** `what` completes the sentence: "The squashfs image is damaged: …". */
export function damaged(what: string): Unacceptable {
  return new Unacceptable(`The squashfs image is damaged: ${what}. Pack it again and push the new file.`);
}
