// Files that juju accepts are accepted, and files that juju refuses are rejected with the reason.
import t from 'tap';

import { readBundle, readCharm } from '#review/charms/charm.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { zip } from '#test/fixtures/packages/archives.ts';
import { filesOf, jujuVectors } from './juju-vectors.ts';

/** The result for a charm or a bundle; undefined if it is accepted. */
function findError(kind: 'charm' | 'bundle', files: Record<string, string>): string | undefined {
  const bytes = zip(files);
  const read = (position: number, length: number) => new Uint8Array(bytes.subarray(position, position + length));
  try {
    (kind === 'charm' ? readCharm : readBundle)({ size: bytes.length, read }, 'hello');
    return undefined;
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}

for (const vectors of jujuVectors) {
  t.test(`${vectors.file} is read as juju reads it (${vectors.source})`, async (t) => {
    for (const text of vectors.accepted) t.equal(findError(vectors.kind, filesOf(vectors, text)), undefined, text);
    for (const [text, pattern] of vectors.refused) {
      const sentence = findError(vectors.kind, filesOf(vectors, text)) ?? 'nothing';
      t.match(sentence, pattern, text);
      t.match(sentence, /^(?:juju cannot read \S+: .*\. [A-Z].*\.$|\S+ has no 'name')/, text);
    }
  });
}

t.test('a bundle needs a README.md, and a charm its metadata.yaml', async (t) => {
  t.match(
    findError('bundle', { 'bundle.yaml': 'applications: {a: {charm: a}}' }),
    /^Missing required file: README\.md\. juju/,
  );
  t.equal(findError('charm', { 'charmcraft.yaml': 'name: hello\n' }), 'Missing required file: metadata.yaml');
});
