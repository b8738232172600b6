// larder help
import { nearest } from '#src/configuration/nearest.ts';
import { command, UsageError, type Command, type Group } from '../frame/command.ts';
import { style } from '../frame/terminal.ts';
import { commandHelp, firstScreen, helpRecord, load, overview } from '../frame/usage.ts';

/** The command that shows the help of these commands. */
export const help = (groups: readonly Group[]): Command =>
  command({
    name: 'help',
    summary: 'Show the help of a command or a topic, or list the commands.',
    positionals: [
      { name: 'command', summary: 'The command, one word or two; or a topic, such as transfers.', repeated: true },
    ],
    options: { all: { type: 'boolean', summary: 'List every command with its summary.' } },
    examples: ['larder help', 'larder help version', 'larder help --all'],

    async run({ positionals, options, json, world }) {
      const wanted = positionals.command.join(' ');
      if (wanted === '' && !options.all && !json) {
        return { text: firstScreen(groups, style(world.stdout, world.env)).trimEnd(), json: null };
      }
      const chosen = select(groups, wanted);
      const loaded = await load(chosen);
      const all = loaded.flatMap(({ commands }) => commands);
      const format = style(world.stdout, world.env);
      const [only] = all;
      return all.length === 1 && only?.name === wanted
        ? { text: commandHelp(only, format).trimEnd(), json: helpRecord(only) }
        : { text: overview(loaded, format).trimEnd(), json: { commands: all.map(helpRecord) } };
    },
  });

/** Selects commands: all, the command with this name, or the commands that start with this word. */
function select(groups: readonly Group[], wanted: string): readonly Group[] {
  if (wanted === '') return groups;
  const where = (fits: (name: string) => boolean) =>
    groups
      .map(({ title, commands }) => ({ title, commands: commands.filter(({ name }) => fits(name)) }))
      .filter(({ commands }) => commands.length > 0);
  const exact = where((name) => name === wanted);
  const found = exact.length > 0 ? exact : where((name) => name.startsWith(`${wanted} `));
  if (found.length > 0) return found;
  const topic = groups.filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()));
  if (topic.length > 0) return topic;
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const meant = nearest(wanted, names);
  throw new UsageError(`there is no command '${wanted}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`);
}
