// The passwords that are tried first, by how often they were found in leaks: some 49,000, of a package that is kept up.
import { embeddedText } from '#src/embedded.ts';

/** Where the list is: a file of the package, which travels with the program. */
const list = 'node_modules/@zxcvbn-ts/language-common/src/passwords.json';

/**
 * Whether a password is one of them, in small letters. Passwords are set seldom, so the text is looked through each
 * time, a millisecond's work, and no memory is kept for it.
 */
export const isCommon = (password: string): boolean => embeddedText(list).includes(JSON.stringify(password));
