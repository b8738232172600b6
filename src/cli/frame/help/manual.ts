// Writes the manual pages larder(1) and larder-GROUP(1) from the records of the commands.
import { commonOptions, optionName, type Command, type CommandOptions } from '../command.ts';
import { exitCodes, usageLine } from './usage.ts';

export function manualPage(commands: readonly Command[]): string {
  const parts = [
    ...heading('LARDER', 'larder \\- keep and serve the packages of a site without internet'),
    '.B larder',
    '.I COMMAND',
    '[\\fIOPTIONS\\fR]',
    '.SH COMMANDS',
    ...commands.flatMap(describeCommand),
    ...optionsAndExit,
  ];
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

/** Writes a page for each first word of the commands, such as larder-transfer(1): file name → text. */
export function groupPages(commands: readonly Command[]): Record<string, string> {
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0]!);
  return Object.fromEntries([...groups].map(([word, members]) => [`larder-${word}.1`, groupPage(word, members)]));
}

function groupPage(word: string, members: readonly Command[]): string {
  const [only] = members.length === 1 ? members : [];
  const summary = only === undefined ? `commands of larder that begin with ${word}` : only.summary.replace(/\.$/, '');
  const parts = [
    ...heading(`LARDER-${word.toUpperCase()}`, `larder-${troff(word)} \\- ${troff(summary)}`),
    ...members.flatMap((member) => [`.B ${troff(usageLine(member))}`, '.br']).slice(0, -1),
    '.SH COMMANDS',
    ...members.flatMap(describeCommand),
    ...optionsAndExit,
    '.SH SEE ALSO',
    '.BR larder (1),',
    '.BR larder.toml (5)',
  ];
  return `${parts.join('\n')}\n`;
}

const heading = (title: string, name: string): string[] => [`.TH ${troff(title)} 1`, '.SH NAME', name, '.SH SYNOPSIS'];

function describeCommand(described: Command): string[] {
  const { name, summary, description, options, positionals, examples } = described;
  return [
    `.SS ${troff(name)}`,
    troff(summary),
    '.PP',
    `.B ${troff(usageLine(described))}`,
    ...(description === undefined ? [] : ['.PP', troff(description)]),
    ...positionals.flatMap((place) => [
      '.TP',
      `.I ${troff(place.value ?? place.name.toUpperCase())}`,
      troff(place.summary),
    ]),
    ...optionLines(options),
    ...['.PP', 'For example:', '.PP', '.nf', ...examples.map((line) => troff(line)), '.fi'],
  ];
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

function optionLines(options: CommandOptions): string[] {
  return Object.entries(options).flatMap(([name, option]) => [
    '.TP',
    `.B ${troff(optionName(name, option))}`,
    troff(option.summary),
  ]);
}

const optionsAndExit = [
  '.SH OPTIONS OF EVERY COMMAND',
  ...optionLines(commonOptions),
  '.SH EXIT STATUS',
  ...exitCodes.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, troff(meaning)]),
];

/** Escapes text, so that troff reads none of it as a request. */
export function troff(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
