// Formats text for people: bold and colours if the terminal shows them, and no control characters from untrusted text.
import type { CommandOutput, World } from './command.ts';

export interface Style {
  bold(text: string): string;
  red(text: string): string;
  /** Maximum width of the text in columns. */
  width: number;
}

/** The width of the output in columns: `maxWidth` at most, less on a narrower terminal. */
export const widthOf = (output: CommandOutput, maxWidth: number): number =>
  Math.max(40, Math.min(maxWidth, output.columns ?? maxWidth));

/** The style for this output; plain unless it is a terminal with colours (https://no-color.org). */
export function style(output: CommandOutput, env: World['env']): Style {
  const plain = output.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const sequence = (on: number, off: number) => (text: string) =>
    plain ? text : `\x1b[${String(on)}m${text}\x1b[${String(off)}m`;
  return { bold: sequence(1, 22), red: sequence(31, 39), width: widthOf(output, 80) };
}

/** Makes control characters visible, which could otherwise move the cursor or hide text. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The maximum number of items of a list that a text shows. */
export const maxListed = 20;

/** The last line of a list with more items, which says how to see the others. */
export const otherItems = (total: number): string[] =>
  total > maxListed ? [`  and ${String(total - maxListed)} more; --json lists them all`] : [];

/** Wraps text into lines of at most `width` characters; longer words are not split. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Rows of two columns, the second wrapped. */
export function columns(rows: readonly (readonly [string, string])[], width = 80): string {
  const first = Math.min(28, Math.max(0, ...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      const [start = '', ...more] = wrap(right, width - first - 4);
      const indent = `\n${' '.repeat(first + 4)}`;
      const opening = left.length > first ? `  ${left}${indent}` : `  ${left.padEnd(first)}  `;
      return `${opening}${[start, ...more].join(indent)}\n`;
    })
    .join('');
}

/** A table with headings; the cells may contain untrusted text. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(visible))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
