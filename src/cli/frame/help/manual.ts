// Writes the manual page larder(1) from the records of the commands.
import { commonOptions, optionName, type Command, type CommandOptions } from '../command.ts';
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
      `.SS ${troff(name)}`,
      troff(summary),
      '.PP',
      `.B ${troff(usageLine({ name, summary, description, options, positionals, examples, ...rest }))}`,
    );
    if (description !== undefined) parts.push('.PP', troff(description));
    for (const place of positionals)
      parts.push('.TP', `.I ${troff(place.value ?? place.name.toUpperCase())}`, troff(place.summary));
    parts.push(...optionLines(options));
    parts.push('.PP', 'For example:', '.PP', '.nf', ...examples.map((line) => troff(line)), '.fi');
  }
  parts.push('.SH OPTIONS OF EVERY COMMAND', ...optionLines(commonOptions), '.SH EXIT STATUS');
  for (const [code, meaning] of exitCodes) parts.push('.TP', `.B ${code}`, troff(meaning));
  parts.push('.SH ENVIRONMENT', '.TP', '.B LARDER_DATA', 'The data directory, if --data does not name one.');
  parts.push(
    '.TP',
    '.B NO_COLOR',
    'Write without colours.',
    '.TP',
    '.B LARDER_DEBUG',
    '1 shows where a failure came from.',
  );
  parts.push('.SH FILES');
  for (const [file, summary] of files) parts.push('.TP', `.I ${troff(file)}`, troff(summary));
  parts.push('.SH SEE ALSO', '.BR larder.toml (5)');
  return `${parts.join('\n')}\n`;
}

/** The files that concern an administrator. */
const files: readonly (readonly [string, string])[] = [
  ['/var/lib/larder', 'The data directory of the system service.'],
  ['/var/lib/larder/larder.toml', 'The configuration; see larder.toml(5).'],
  ['/var/lib/larder/larder.db', 'The records, unless they are on a PostgreSQL server.'],
  ['/var/lib/larder/blobs', 'The uploaded files, unless they are in an S3 bucket.'],
  ['/var/lib/larder/site.key, master.key', 'The keys of the store. Keep copies elsewhere: a backup holds neither.'],
  ['/var/lib/larder/admin.macaroon', "The store administrator's credential."],
];

const optionLines = (options: CommandOptions): string[] =>
  Object.entries(options).flatMap(([name, option]) => [
    '.TP',
    `.B ${troff(optionName(name, option))}`,
    troff(option.summary),
  ]);

/** Escapes text, so that troff reads none of it as a request. */
export const troff = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
