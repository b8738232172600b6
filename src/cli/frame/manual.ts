// The manual page, larder(1), written from the records of the commands.
import { commonOptions, optionName, type Command, type Options } from './command.ts';
import { exitCodes, usageLine } from './usage.ts';

export function manualPage(commands: readonly Command[]): string {
  const parts = [
    '.TH LARDER 1',
    '.SH NAME',
    'larder \\- keep and serve the packages of a site without internet',
    '.SH SYNOPSIS',
    '.B larder',
    '.I COMMAND',
    '[\\fIOPTIONS\\fR]',
    '.SH COMMANDS',
  ];
  for (const { name, summary, description, options, positionals, examples, ...rest } of commands) {
    parts.push(
      `.SS ${text(name)}`,
      text(summary),
      '.PP',
      `.B ${text(usageLine({ name, summary, description, options, positionals, examples, ...rest }))}`,
    );
    if (description !== undefined) parts.push('.PP', text(description));
    for (const place of positionals)
      parts.push('.TP', `.I ${text(place.value ?? place.name.toUpperCase())}`, text(place.summary));
    parts.push(...optionLines(options));
    parts.push('.PP', 'For example:', '.PP', '.nf', ...examples.map((line) => text(line)), '.fi');
  }
  parts.push('.SH OPTIONS OF EVERY COMMAND', ...optionLines(commonOptions), '.SH EXIT STATUS');
  for (const [code, meaning] of exitCodes) parts.push('.TP', `.B ${code}`, text(meaning));
  parts.push('.SH ENVIRONMENT', '.TP', '.B LARDER_DATA', 'The data directory, where --data does not name one.');
  parts.push(
    '.TP',
    '.B NO_COLOR',
    'Write without colours.',
    '.TP',
    '.B LARDER_DEBUG',
    '1 shows where a failure came from.',
  );
  return `${parts.join('\n')}\n`;
}

const optionLines = (options: Options): string[] =>
  Object.entries(options).flatMap(([name, option]) => [
    '.TP',
    `.B ${text(optionName(name, option))}`,
    text(option.summary),
  ]);

/** Text in which nothing is taken for a request of troff. */
const text = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
