// Writes the manual page larder.toml(5) from the schema of the configuration.
import { tomlValue, type ConfigValue } from '#configuration/edit.ts';
import { sections, type ConfigKey } from '#configuration/keys.ts';
import { troff } from './manual.ts';

export function configurationPage(): string {
  const parts = [
    '.TH LARDER.TOML 5',
    '.SH NAME',
    'larder.toml \\- the configuration of a larder store',
    '.SH SYNOPSIS',
    '.I DIR/larder.toml',
    '.SH DESCRIPTION',
    troff(
      'A TOML file in the data directory of the store, /var/lib/larder unless --data or LARDER_DATA names another.',
    ),
    troff('Every key is optional. After a change, send the server SIGHUP or restart it;'),
    troff("'larder config set KEY VALUE' changes a key, checks the file and makes the server read it."),
  ];
  for (const [name, { description, keys, anyKey }] of sections()) {
    parts.push(`.SH [${troff(name)}]`, troff(description));
    const records = anyKey === undefined ? keys : [['NAME', anyKey] as const];
    for (const [key, record] of records) parts.push('.TP', `.B ${troff(key)}`, ...entry(record));
  }
  parts.push('.SH FILES', '.TP', '.I /var/lib/larder/larder.toml', 'The configuration of the system service.');
  parts.push('.SH SEE ALSO', '.BR larder (1)');
  return `${parts.join('\n')}\n`;
}

function entry({ description, expected, default: value, example, secret: isSecret }: ConfigKey): string[] {
  const shown = value === undefined ? 'Not set by default' : `Default: ${tomlValue(value as ConfigValue)}`;
  const also =
    value === undefined && example !== undefined && !isSecret
      ? `, for example ${tomlValue(example as ConfigValue)}`
      : '';
  return [troff(description), '.br', troff(`Value: ${expected}.`), '.br', troff(`${shown}${also}.`)];
}
