// Writes a configuration file with every section and key, each below a comment that describes it.
import { tomlValue, type ConfigValue } from './edit.ts';
import { sections } from './keys.ts';

/**
 * Returns the text of a file that sets `values` (by dotted name); all other keys are comments with their defaults. `opening` becomes the
 * comment at the top.
 */
export function render(opening: string, values: Readonly<Record<string, ConfigValue>>): string {
  const parts = [comment(opening)];
  for (const [section, { description, keys, anyKey }] of sections()) {
    parts.push(`\n${comment(description)}[${section}]\n`);
    if (anyKey !== undefined)
      parts.push('\n', comment(anyKey.description), `# name = ${tomlValue(anyKey.example as ConfigValue)}\n`);
    for (const [name, key] of keys) {
      const value = values[`${section}.${name}`];
      const line = `${name} = ${tomlValue(value ?? ((key.default ?? key.example) as ConfigValue))}\n`;
      parts.push('\n', comment(key.description), value === undefined ? `# ${line}` : line);
    }
  }
  return parts.join('');
}

/** The text as comment lines of at most 100 characters. */
function comment(text: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '#';
    for (const word of paragraph.split(' ')) {
      if (line.length + 1 + word.length > 100) {
        lines.push(line);
        line = '#';
      }
      line += ` ${word}`;
    }
    lines.push(line.trimEnd());
  }
  return `${lines.join('\n')}\n`;
}
