// The guides about tokens: the lines are run, the numbers are those of the schemas.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { examplesIn, readGuide } from '#test/fixtures/guides.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

const root = join(import.meta.dirname, '../..');

/** As if the publisher had invited the account, and it had agreed. */
async function addCollaborator(data: string, packageId: string, account: string): Promise<void> {
  const { records, close } = await openStore({ directory: data });
  const at = new Date().toISOString();
  await records.change({ at, actor: 'test', action: 'test', object: packageId }, (tx) =>
    tx.collaborators.add(packageId, account, account, at),
  );
  await close();
}

t.test('each line of the guide ends the access that it names', async (t) => {
  const { data, json } = await newStore(t);
  await json('account create --email bob@example.org --username bob --display-name Bob --id bob-id');
  const { 'session-id': session } = (await json('token issue --account bob-id')) as { 'session-id': string };
  const [lines = [], handingOn = [], ending = []] = examplesIn(
    'administrator',
    'Revoke tokens and disable accounts',
    3,
  );
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
  await json('account create --email dave@example.org --username dave --display-name Dave --id dave-id');
  await json('account enable bob-id');
  await json('package register snap/hello --account bob-id');
  const { id } = (await json('package show snap/hello')) as { id: string };
  const { 'session-id': rotated } = (await json('token issue --account dave-id')) as { 'session-id': string };
  for (const line of [...handingOn, ...ending]) {
    const command = line
      .replace(/^larder /, '')
      .replace('NEW-ID', 'dave-id')
      .replace(/\bID\b/, 'bob-id')
      .replace('SESSION', rotated);
    const typed = /list|rotate/.test(command) ? '' : ' --yes';
    const { code, err } = await larder(command + typed, { env: { LARDER_DATA: data } });
    t.equal(code, 0, `${line}: ${err}`);
    if (command.startsWith('package hand-over')) await addCollaborator(data, id, 'bob-id');
  }
});

t.test("the publisher's guide states the limits of the code", (t) => {
  const shapes = (file: string) =>
    (JSON.parse(readFileSync(join(root, 'schemas', file), 'utf8')) as { $defs: Record<string, Shape> }).$defs;
  interface Shape {
    properties?: Record<string, { maxItems?: number; maxLength?: number; minimum?: number }>;
  }
  const properties = shapes('tokens.json')['IssueMacaroonRequest']?.properties ?? {};
  const filters = shapes('access.json')['PackagePermissionsRequest']?.properties?.['filters']?.maxItems;
  const guide = readGuide('publisher').replace(/\s+/g, ' ');
  t.match(guide, `from ${String(properties['ttl']?.minimum)} seconds`);
  t.match(
    guide,
    `at most ${String(properties['channels']?.maxItems)} channels and ${String(properties['packages']?.maxItems)} packages`,
  );
  t.match(guide, `at most ${String(properties['description']?.maxLength)} characters`);
  t.match(guide, `at most ${String(filters)} packages at once`);
  t.end();
});
