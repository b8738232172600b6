// What the README and the publisher's guide tell publishers to type for their tools: each line is run, against a store that
// is served. The README's journey with curl has a test of its own, in journeys/.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const root = join(import.meta.dirname, '../..');
const guides = join(root, 'src/api/documents/guides');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** What the tools of today refuse, and what would make a publisher the store's administrator. */
const refused = [/SNAPCRAFT_STORE_AUTH=['"]?candid/, /SNAPCRAFT_ADMIN_MACAROON/, /cat [^\s)]*admin\.macaroon/];

t.test('no page tells a publisher what his tools refuse, or hands him the administrator’s credential', (t) => {
  const pages = readdirSync(guides).map((name) => [name, readFileSync(join(guides, name), 'utf8')] as const);
  const start = readFileSync(join(root, 'packaging/start.ts'), 'utf8');
  for (const [name, text] of [...pages, ['README.md', readme], ['start.ts', start]] as const) {
    for (const pattern of refused) t.notMatch(text, pattern, name);
  }
  t.end();
});
