// The guide for stolen, leaked or wrongly released things: its lines are typed unchanged.
import { writeFileSync } from 'node:fs';

import t from 'tap';

import { demoSnaps } from '#cli/store/demo/snaps.ts';
import { examplesThroughout, missingOutput } from '#test/fixtures/guides.ts';
import { newBrandStore } from '#test/cli/brands/brand-store.ts';
import { canBeTyped } from './typed-lines.ts';

const lines = examplesThroughout('incident').flat();

t.test('every line of the guide can be typed', async (t) => {
  t.equal(lines.length, 16);
  await canBeTyped(t, lines);
});

t.test('the lines about a laptop, a credential, a key and a wrong revision work as described', async (t) => {
  const { larder, json, file, files } = await newBrandStore(t);
  await json('account create --id bob --email bob@example.org --username bob --display-name Bob');
  await json('token issue --account bob');
  for (const { name } of demoSnaps) await json(`package register snap/${name} --account bob`);
  for (const snap of demoSnaps) {
    const path = file(snap.file, '');
    writeFileSync(path, Buffer.from(snap.base64, 'base64'));
    t.match(await larder(`package push ${path} --release stable --yes`), { code: 0 });
  }
  const printed: string[] = [];
  for (const line of lines) {
    if (/serial |secret|depot|withdraw 3f2a|revoke-serial/.test(line)) continue;
    const command = line
      .replace('larder ', '')
      .replace(/snap\/hello 2/, 'snap/demo-notes 1')
      .replace('snap/hello', 'snap/demo-hello')
      .replace('acme', 'my-brand')
      .replace('./', `${files}/`);
    const { code, out, err } = await larder(command);
    t.equal(code, 0, `${line}: ${err}`);
    printed.push(out);
  }
  t.same(missingOutput('incident', 'A laptop with a token was stolen', printed.join('\n')), []);
  t.match(await json('token list --account bob'), { tokens: [] });
  t.match((await larder('revision list snap/demo-notes')).out, /withdrawn .*breaks the pump/);
});
