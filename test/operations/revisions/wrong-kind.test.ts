// A file of another kind than its package is rejected with its kind.
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { charm, rock, tar, zip } from '#test/fixtures/packages/archives.ts';

t.test('a file of another kind is called by its name', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const [namespace, name, type] of [
    ['snap', 'a-snap', 'snap'],
    ['charm', 'a-charm', 'charm'],
    ['charm', 'a-bundle', 'bundle'],
    ['rock', 'a-rock', 'rock'],
  ] as const) {
    await ada.post(`/v1/${namespace}`, { name, type });
  }
  const snap = await snapFixture('app-xz');
  const bundle = zip({ 'bundle.yaml': 'applications: {a: {charm: a}}', 'README.md': '' });
  const archive = tar([{ name: 'metadata.yaml', content: 'name: a-charm' }]);
  const saved = tar([
    { name: 'manifest.json', content: '[]' },
    { name: 'repositories', content: '{}' },
  ]);
  const isZip = "but a charm is a zip archive, as 'charmcraft pack' makes it. Push the file that it produces.";
  const isOci =
    "but a rock is an OCI archive that is not compressed, as 'rockcraft pack' makes it. Push the file that it produces.";
  const cases: [address: string, content: Uint8Array | string, sentence: string | RegExp][] = [
    [
      'charm/a-charm',
      bundle,
      /^The file is a bundle, but 'a-charm' is the name of a charm\. Push it to a name of the type bundle\.$/,
    ],
    ['charm/a-bundle', charm('a-bundle'), /^The file is a charm, but 'a-bundle' is the name of a bundle\. /],
    ['charm/a-charm', snap, `The file is a squashfs image, such as a snap, ${isZip}`],
    ['charm/a-charm', gzipSync(archive), `The file is compressed with gzip, ${isZip}`],
    ['charm/a-charm', archive, `The file is a tar archive, such as a rock, ${isZip}`],
    ['charm/a-charm', 'name: a-charm\n', `The file is text, ${isZip}`],
    ['charm/a-charm', '<!DOCTYPE html>\n<title>Log in</title>', `The file is a web page, ${isZip}`],
    ['charm/a-charm', '', `The file is empty, ${isZip}`],
    ['charm/a-bundle', 'applications: {}\n', /^The file is text, but a bundle is a zip archive/],
    ['rock/a-rock', gzipSync(rock('a-rock')), `The file is compressed with gzip, ${isOci}`],
    ['rock/a-rock', charm('a-rock'), `The file is a zip archive, such as a charm, ${isOci}`],
    [
      'rock/a-rock',
      saved,
      /^The file is an archive of 'docker save', .*'skopeo copy docker-archive:FILE oci-archive:NEW'/,
    ],
    ['snap/a-snap', charm('a-snap'), /^The file is a zip archive, such as a charm, but a snap is a squashfs image/],
  ];
  for (const [address, content, sentence] of cases) {
    const [namespace, name] = address.split('/') as [string, string];
    const [review] = (await ada.push(namespace, name, content)).body.revisions;
    t.match(review, { status: 'rejected', errors: [{ code: 'review-error', message: sentence }] }, String(sentence));
  }
});
