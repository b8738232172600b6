// larder completion
import { command, commonOptions, UsageError, type Command, type CommandGroup } from '../command.ts';
import { groupPages, manualPage } from './manual.ts';
import { configurationPage } from './configuration-manual.ts';
import { suggest } from './suggest.ts';

const shells = ['bash', 'zsh', 'fish', 'man', 'config-man'] as const;

/** Writes the completion of a shell from the records of the commands. */
export const completion = (groups: readonly CommandGroup[]): Command =>
  command({
    name: 'completion',
    summary: 'Print the completion script for a shell, or a manual page.',
    description:
      "Shells call 'larder completion suggest -- WORDS': it lists completions of the last word, with names and ids " +
      "of the store if the caller may read them. With --json, 'man' also gives the page of each group of commands.",
    positionals: [
      {
        name: 'shell',
        summary: 'One of bash, zsh, fish; man for larder(1), config-man for larder.toml(5).',
      },
      { name: 'words', summary: 'With suggest: the words that are typed, without larder.', repeated: true },
    ],
    examples: ['larder completion bash', 'larder completion man'],

    async run(call) {
      const { shell, words } = call.positionals;
      if (shell === 'suggest') {
        const candidates = await suggest(groups, words, call);
        return { text: candidates.join('\n'), json: { candidates } };
      }
      const shellName = shells.find((each) => each === shell);
      if (shellName === undefined || words.length > 0) {
        throw new UsageError(`SHELL is one of ${shells.join(', ')}, not '${[shell, ...words].join(' ')}'`);
      }
      const commands = await Promise.all(groups.flatMap((group) => group.commands).map(({ load }) => load()));
      const write = { bash, zsh, fish, man: manualPage, 'config-man': configurationPage };
      const text = write[shellName](commands).trimEnd();
      return { text, json: { shell, text, ...(shellName === 'man' && { pages: groupPages(commands) }) } };
    },
  });

const bash = (): string => `# larder(1) completion for bash; written by 'larder completion bash'
_larder() {
  local current=\${COMP_WORDS[COMP_CWORD]} words IFS=$' \\t\\n'
  words=$("\${COMP_WORDS[0]}" completion suggest -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ "$current" != = ] || current=
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=(); fi
}
complete -o default -F _larder larder
`;

const zsh = (): string => `#compdef larder
# written by 'larder completion zsh'
autoload -U +X bashcompinit && bashcompinit
${bash()}`;

function fish(commands: readonly Command[]): string {
  const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))];
  const lines = firsts.map((first) => {
    const only = commands.find(({ name }) => name === first);
    return `complete -c larder -n __fish_use_subcommand -a ${first}${only ? ` -d ${quoted(only.summary)}` : ''}`;
  });
  // The words before the cursor, and the incomplete word.
  const asks = '(larder completion suggest -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)';
  lines.push(`complete -c larder -n 'not __fish_use_subcommand' -a ${quoted(asks)}`);
  for (const entry of commands) {
    const [first = '', second] = entry.name.split(' ');
    const condition =
      second === undefined
        ? `__fish_seen_subcommand_from ${first}`
        : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    if (second !== undefined) {
      lines.push(
        `complete -c larder -n ${quoted(`__fish_seen_subcommand_from ${first}`)} -a ${second} -d ${quoted(entry.summary)}`,
      );
    }
    for (const [name, option] of Object.entries({ ...entry.options, ...commonOptions })) {
      const value = option.type === 'boolean' ? '' : ` -r -a ${quoted(asks)}`;
      lines.push(`complete -c larder -n ${quoted(condition)} -l ${name}${value} -d ${quoted(option.summary)}`);
    }
  }
  return `# written by 'larder completion fish'\n${lines.join('\n')}\n`;
}
