// Checks passwords against the most common ones: about 49,000 from leaks, in a list that a maintained package supplies.
import { embeddedText } from '#platform/embedded.ts';

/** The list: a file of the package, embedded in the program. */
const list = 'node_modules/@zxcvbn-ts/language-common/src/passwords.json';

/**
 * Whether a password, in lower case, is in the list. Passwords are set rarely, so the text is searched each time (about 1 ms) and
 * takes no memory.
 */
export const isCommon = (password: string): boolean => embeddedText(list).includes(JSON.stringify(password));
