// The language of the project may only come closer to docs/contributing.md: each figure has a ceiling that may only fall.
import { writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { countLanguage, type LanguageFigures } from './language-figures.ts';

const file = join(import.meta.dirname, 'language-ceilings.json');
const ceilings = JSON.parse(readFileSync(file, 'utf8')) as LanguageFigures;

t.test('texts and names come no further from the rules of the language', (t) => {
  const figures = countLanguage();
  const fallen = Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [name, Math.min(figure, ceilings[name as keyof LanguageFigures])]),
  );
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(file, `${JSON.stringify(fallen, undefined, 2)}\n`);
  for (const [name, figure] of Object.entries(figures)) {
    const ceiling = ceilings[name as keyof LanguageFigures];
    t.ok(figure <= ceiling, `${name}: ${figure}, at most ${ceiling}; see "Language" in docs/contributing.md`);
  }
  t.end();
});
