import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { readTrusted } from '#assertions/trusted-roots.ts';
import { chain } from './vectors.ts';

t.test('the roots are those of the files, or of the public online store', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-roots-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [account = '', key = ''] = chain.trusted;
  t.same([...readTrusted([]).accounts], ['canonical']);
  t.same([...readTrusted([file('both', `${account}\n${key}`)]).accounts], ['trustedroot']);
  t.same(
    [...readTrusted([file('one', account), file('two', `${key}\n\n`)]).accounts],
    ['trustedroot'],
    'several files are one',
  );
  t.throws(() => readTrusted([file('one', account)]), /cannot use the roots of trust in .*one/);
  t.throws(
    () => readTrusted([file('brand', chain.assertions['brand-account'] ?? '')]),
    /cannot use the roots of trust/,
  );
  t.throws(
    () => readTrusted([file('changed', `${account}\n${key.replace('name: root', 'name: ruut')}`)]),
    /cannot use the roots of trust/,
  );
  t.throws(() => readTrusted([join(folder, 'nowhere')]), /cannot read the roots of trust in .*nowhere/);
  t.end();
});
