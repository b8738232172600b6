// larder demo
import t from 'tap';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, newStore, serve } from '#test/cli/process.ts';
import { larder, words } from '#test/cli/world.ts';

t.test('a first store is made in a new folder, and the printed lines work', async (t) => {
  const other = await newStore(t);
  const before = await other.json('package list');
  const home = join(folder(t), 'try it');
  const made = await larder(`demo '${home}'`, { env: { LARDER_DATA: other.data } });
  t.equal(made.code, 0, made.err);
  t.strictSame(await other.json('package list'), before, 'the store that LARDER_DATA names is as it was');
  t.strictSame(readdirSync(home).sort(), ['demo-hello_1.0_all.snap', 'demo-notes_0.1_all.snap', 'store']);

  const lines = made.out.split('\n').flatMap((line) => (line.startsWith('     larder ') ? [line.trim()] : []));
  t.equal(lines.length, 4);
  t.strictSame(words(lines[0]!), ['larder', 'serve', '--data', join(home, 'store')]);
  for (const line of lines.slice(1)) {
    const { code, err } = await larder(line.replace('larder ', ''));
    t.equal(code, 0, `${line}: ${err}`);
  }
  const { url } = await serve(t, join(home, 'store'));
  const [, link = ''] = /^ +(http\S+\/identity\/\S+)$/m.exec(made.out) ?? [];
  const page = await fetch(`${url}${link.slice(new URL(link).origin.length)}`);
  t.match(await page.text(), /password/i);
  const outcome = await larder(`package show snap/demo-notes --data '${join(home, 'store')}'`);
  t.match(outcome.out, / edge +0\.1 +1 /);
  t.match(outcome.out, /stable +0\.1 +1/, 'the release that a printed line makes');
});

t.test('a folder in use stays unchanged, and a failed demo leaves nothing', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'mine'), 'mine');
  t.match(await larder(`demo ${home}`), { code: 1, err: /is not empty; name a new folder: 'larder demo FOLDER'/ });
  t.strictSame(readdirSync(home), ['mine']);
  const empty = join(home, 'empty');
  mkdirSync(empty);
  t.match(await larder(`demo ${empty} --port 9090 --json`), { code: 0, out: /"url":"http:\/\/127\.0\.0\.1:9090"/ });
  t.match(await larder(`demo ${join(home, 'mine', 'below')}`), { code: 1 });
  t.ok(existsSync(join(home, 'mine')));
});
