// The messages after a form. The address names a word, so that a link cannot make a page show any other text.

const sentences = new Map<string, string>();

/** Declares messages by their words. The result makes an address of the console that shows one of them. */
export function declareMessages<Word extends string>(
  messages: Readonly<Record<Word, string>>,
): (address: string, word: Word) => string {
  for (const [word, sentence] of Object.entries<string>(messages)) {
    if (sentences.has(word)) throw new Error(`Two messages of the console have the word '${word}'.`);
    sentences.set(word, sentence);
  }
  return (address, word) => `${address}${address.includes('?') ? '&' : '?'}done=${word}`;
}

/** The message of a word; undefined for any other text. */
export const findMessage = (word = ''): string | undefined => sentences.get(word);
