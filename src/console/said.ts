// What a page says of what was just done. The address names it by one of these words, so nobody can make a page say anything else.

const sentences = {
  'account-disabled': 'The account is disabled; nobody is let in with it.',
  'account-enabled': 'The account is let in again.',
  'logged-out': 'You have logged out.',
  'quota-set': 'What the account may have is set.',
  'token-ended': 'The token has ended.',
  'tokens-ended': 'All tokens of the account have ended.',
} as const;

export type Said = keyof typeof sentences;

/** The sentence of a word; nothing of any other text. */
export const said = (word: string | undefined): string | undefined =>
  word !== undefined && Object.hasOwn(sentences, word) ? sentences[word as Said] : undefined;

/** An address of the console, for the page there to say what was done. */
export const saying = (address: string, word: Said): string =>
  `${address}${address.includes('?') ? '&' : '?'}done=${word}`;
