// The error for an image that mksquashfs cannot have written.
import { Unacceptable } from '../unacceptable.ts';

/** `problem` completes the sentence: "The squashfs image is damaged: …". */
export function corruptImage(problem: string): Unacceptable {
  return new Unacceptable(`The squashfs image is damaged: ${problem}. Pack it again and push the new file.`);
}
