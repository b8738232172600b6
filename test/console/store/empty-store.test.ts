// The pages of a store without content.
import t from 'tap';

import { consoleOperations } from '#console/index.ts';
import { startConsole } from '#test/console/world.ts';

t.test('each list of an empty store says that it is empty', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const lists = consoleOperations.filter(
    ({ method, name, path }) => method === 'GET' && name !== 'console_asset' && !path.includes(':'),
  );
  for (const { path } of lists) {
    const { status, html } = await root.open(path);
    t.ok(status < 500, `${path}: ${String(status)}`);
    t.notMatch(html, /<tbody>\s*<\/tbody>/, path);
    t.ok(html.length < 200_000, path);
  }
  for (const [path, words] of [
    ['/console/packages', /no packages?|No package/],
    ['/console/brands', /There are no brands/],
    ['/console/vulnerabilities', /No feed has been imported/],
    ['/console/subscriptions', /no subscriptions?|subscribes to no/i],
    ['/console/sites', /No s(?:ite|ource)/],
    ['/console/backups', /No backup has been made yet/],
  ] as const)
    t.match((await root.open(path)).text, words, path);
});
