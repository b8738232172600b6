import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { openAssetIn } from '#platform/executable-file.ts';

const places = { size: 10, assets: { parts: [2, 8] } } as const;

t.test('an asset is read from its place in the file', (t) => {
  const file = join(t.testdir({ larder: '0123456789' }), 'larder');
  const read = openAssetIn(file, places, 'parts');
  t.equal(read?.().toString(), '234567');
  t.equal(read?.(1, 3).toString(), '34');
  const { buffer, byteLength } = read?.(1, 3) ?? Buffer.alloc(0);
  t.equal(buffer.byteLength, byteLength, 'the caller may release the memory');
  t.end();
});

t.test('the mapping is read instead if the file is another one, cannot be opened or has no such asset', (t) => {
  const directory = t.testdir({ larder: '0123456789', emulator: '0123456789-' });
  t.equal(openAssetIn(join(directory, 'emulator'), places, 'parts'), undefined);
  t.equal(openAssetIn(join(directory, 'none'), places, 'parts'), undefined);
  t.equal(openAssetIn(join(directory, 'larder'), places, 'other'), undefined);
  t.end();
});

t.test('a file that has become shorter is refused', (t) => {
  const file = join(t.testdir({ larder: '0123456789' }), 'larder');
  const read = openAssetIn(file, places, 'parts');
  writeFileSync(file, '0123');
  t.throws(() => read?.(), { message: /cannot read the asset 'parts': .* has become shorter/ });
  t.end();
});
