// larder help
import { nearest } from '#domain/nearest.ts';
import { command, UsageError, type Command, type CommandGroup } from '../command.ts';
import { style } from '../terminal.ts';
import { commandHelp, firstScreen, helpRecord, load, overview } from './usage.ts';

/** The command that shows the help of these commands. */
export const help = (groups: readonly CommandGroup[]): Command =>
  command({
    name: 'help',
    summary: 'Show the help of a command or a topic, or list the commands.',
    positionals: [
      { name: 'command', summary: 'The command, one word or two; or a topic, such as transfers.', repeated: true },
    ],
    options: { all: { type: 'boolean', summary: 'List every command with its summary.' } },
    examples: ['larder help', 'larder help version', 'larder help --all'],

    async run({ positionals, options, json, world }) {
      const query = positionals.command.join(' ');
      if (query === '' && !options.all && !json) {
        return { text: firstScreen(groups, style(world.stdout, world.env)).trimEnd(), json: null };
      }
      const chosen = select(groups, query);
      const loaded = await load(chosen);
      const all = loaded.flatMap(({ commands }) => commands);
      const format = style(world.stdout, world.env);
      const [only] = all;
      return all.length === 1 && only?.name === query
        ? { text: commandHelp(only, format).trimEnd(), json: helpRecord(only) }
        : { text: overview(loaded, format).trimEnd(), json: { commands: all.map(helpRecord) } };
    },
  });

/** Selects commands: all, the command with this name, or the commands that start with this word. */
function select(groups: readonly CommandGroup[], query: string): readonly CommandGroup[] {
  if (query === '') return groups;
  const where = (fits: (name: string) => boolean) =>
    groups
      .map(({ title, commands }) => ({ title, commands: commands.filter(({ name }) => fits(name)) }))
      .filter(({ commands }) => commands.length > 0);
  const exact = where((name) => name === query);
  const matches = exact.length > 0 ? exact : where((name) => name.startsWith(`${query} `));
  if (matches.length > 0) return matches;
  const topic = groups.filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()));
  if (topic.length > 0) return topic;
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const meant = nearest(query, names);
  throw new UsageError(`there is no command '${query}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`);
}
