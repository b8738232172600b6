// The error for an image that mksquashfs cannot have written.
import { Unacceptable } from '../unacceptable.ts';

/** `problem` completes the sentence: "The squashfs image is corrupt: …". */
export function corruptImage(problem: string): Unacceptable {
  return new Unacceptable(`The squashfs image is corrupt: ${problem}. Pack it again and push the new file.`);
}
