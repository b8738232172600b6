// A word that is copied into a shell is the same word there.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';

import { shellWord } from '#domain/shell-word.ts';

t.test('a word is what a shell makes of it', (t) => {
  t.equal(shellWord('/var/lib/larder'), '/var/lib/larder');
  t.equal(shellWord('/tmp/dä_ta-1'), '/tmp/dä_ta-1');
  t.equal(shellWord('/tmp/da ta'), '"/tmp/da ta"');
  const odd = fc.string({
    unit: fc.constantFrom(...Array.from(' "\'$`\\!*?~;&|<>(){}[]#\n\tax/ä-')),
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.array(odd, { minLength: 60, maxLength: 60 }), (words) => {
      const line = `printf '%s\\0' ${words.map((word) => shellWord(`/${word}`)).join(' ')}`;
      const read = execFileSync('sh', ['-c', line]).toString().split('\0').slice(0, -1);
      t.same(
        read,
        words.map((word) => `/${word}`),
      );
    }),
    { numRuns: 5 },
  );
  t.end();
});
