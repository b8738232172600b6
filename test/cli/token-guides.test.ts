// What the guides say of tokens: the lines are run, the numbers are those of the schemas.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newStore } from './process.ts';
import { larder } from './world.ts';

const root = join(import.meta.dirname, '../..');
const guide = (name: string): string => readFileSync(join(root, 'src/api/documents/guides', name), 'utf8');

t.test('each line with which an administrator ends what somebody was let in with', async (t) => {
  const { data, json } = await newStore(t);
  await json('account create --email bob@example.org --username bob --display-name Bob --id bob-id');
  const { 'session-id': session } = (await json('token issue --account bob-id')) as { 'session-id': string };
  const section = /<h2>End what somebody was let in with<\/h2>.*?<pre><code>(.*?)<\/code><\/pre>/s;
  const lines = section.exec(guide('administrator.html'))?.[1]?.split('\n') ?? [];
  t.equal(lines.length, 5);
  for (const line of lines) {
    const command = line
      .replace(/^larder /, '')
      .replace('ID', 'bob-id')
      .replace('SESSION', session);
    const typed = /token list/.test(command) ? '' : /password/.test(command) ? ' --password-stdin' : ' --yes';
    const { code, err } = await larder(command + typed, { env: { LARDER_DATA: data }, stdin: ['four words of bob'] });
    t.equal(code, 0, `${line}: ${err}`);
  }
});

t.test("the publisher's guide tells the bounds that are held", (t) => {
  const shapes = (file: string) =>
    (JSON.parse(readFileSync(join(root, 'schemas', file), 'utf8')) as { $defs: Record<string, Shape> }).$defs;
  interface Shape {
    properties?: Record<string, { maxItems?: number; maxLength?: number; minimum?: number }>;
  }
  const asked = shapes('tokens.json')['IssueMacaroonRequest']?.properties ?? {};
  const filters = shapes('access.json')['PackagePermissionsRequest']?.properties?.['filters']?.maxItems;
  const said = guide('publisher.html').replace(/\s+/g, ' ');
  t.match(said, `from ${String(asked['ttl']?.minimum)} seconds`);
  t.match(
    said,
    `at most ${String(asked['channels']?.maxItems)} channels and ${String(asked['packages']?.maxItems)} packages`,
  );
  t.match(said, `at most ${String(asked['description']?.maxLength)} characters`);
  t.match(said, `at most ${String(filters)} packages at once`);
  t.end();
});
