// A large commit needs a body; a small one, a generated file or a moved file needs none.
import t from 'tap';

import { missingBody, type Commit } from '../../packaging/lint-commits.ts';

const commit = (more: Partial<Commit>): Commit => ({
  id: '0123456789abcdef',
  subject: 'Add tracks',
  body: '',
  files: [{ path: 'src/acts/releases/tracks.ts', lines: 201 }],
  ...more,
});

t.test('a commit of more than 200 lines without a body is named', async (t) => {
  t.match(missingBody(commit({})), /^01234567 changes 201 lines without a body: 'Add tracks'\./);
  t.match(
    missingBody(commit({ body: 'Signed-off-by: Ada <ada@example.com>\n' })),
    /without a body/,
    'a trailer gives no reason',
  );
});

t.test('a body, few lines or generated lines are enough', async (t) => {
  t.equal(missingBody(commit({ body: 'Publishers asked for it.\n' })), undefined);
  t.equal(missingBody(commit({ files: [{ path: 'src/acts/releases/tracks.ts', lines: 200 }] })), undefined);
  const files = [
    { path: 'package-lock.json', lines: 5000 },
    { path: 'src/records/new-store.sql', lines: 300 },
    { path: 'test/fixtures/icon.png', lines: undefined },
    { path: 'src/acts/releases/tracks.ts', lines: 20 },
  ];
  t.equal(missingBody(commit({ files })), undefined);
});
