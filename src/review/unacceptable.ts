// Thrown while an upload is read, if the upload itself is at fault. Its sentences go to the publisher; any other error
// of a review is an internal fault and goes to the log.

export class Unacceptable extends Error {
  readonly sentences: [string, ...string[]];

  constructor(...sentences: [string, ...string[]]) {
    super(sentences.join(' '));
    this.name = 'Unacceptable';
    this.sentences = sentences;
  }
}

/** Text from an upload for a sentence: in quotes, and `plain`. */
export const quoted = (text: string) => `'${plain(text)}'`;

/** Text from an upload on one line, truncated, without invisible characters. */
export function plain(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return short.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
