// Every answer that a person may save as a file names that file, safely. That a declared name comes with every answer is held by
// test/fixtures/contract/contract.ts, for each answer that a test of any route gets.
import { createHash } from 'node:crypto';

import fc from 'fast-check';
import t from 'tap';

import { attachment, safeFileName } from '#http/response/content-disposition.ts';
import { consoleSection } from '#console/index.ts';
import { identitySection } from '#identity/operations.ts';
import { sections } from '#operations/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { anyCharacter, quoteInAscii } from '#test/fixtures/characters.ts';
import { fault } from '#test/fixtures/contract/contract.ts';
import { declare, digestOf, imageOf, logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';

/** Pages and their resources, lists for programs, and the metrics: a browser shows them, and a program reads them. */
const notSaved = ['text/html', 'text/css', 'text/javascript', 'application/hal+json'];
const shown = ['console_asset', 'favicon', 'metrics', 'security_txt'];

t.test('every route for a file declares it, and no other route does', (t) => {
  const routes = [...sections, identitySection, consoleSection]
    .flatMap((section) => section.operations)
    .filter(({ method }) => method === 'GET');
  for (const { name, produces = [], headers = [] } of routes) {
    const types = Array.isArray(produces) ? (produces as string[]) : Object.keys(produces);
    const givesFile = !shown.includes(name) && types.some((type) => !notSaved.includes(type));
    t.equal(headers.includes('content-disposition'), givesFile, name);
  }
  t.end();
});

t.test('a response without a safe file name contradicts its route', (t) => {
  const answer = { operation: 'image_blob', status: 200, type: 'application/octet-stream', body: undefined };
  const faultOfName = (value: string) => fault({ ...answer, headers: new Headers({ 'content-disposition': value }) });
  t.match(fault({ ...answer, headers: new Headers() }), /names no file/);
  t.equal(faultOfName('attachment; filename="sha256-00"'), undefined);
  for (const name of ['../x', '.x', '-x', 'a"b', 'a b', 'a/b', 'a\\b', '']) {
    t.match(faultOfName(`attachment; filename="${name}"`), /names no file/, name);
  }
  t.end();
});

t.test('a name becomes safe on every file system', (t) => {
  for (const [name, safe] of [
    ['hello_1.snap', 'hello_1.snap'],
    ['../../etc/passwd', '__.._etc_passwd'],
    ['.bashrc', '_bashrc'],
    ['-rf', '_rf'],
    ['a"; filename="b', 'a___filename__b'],
    ['a\r\nset-cookie: x', 'a__set-cookie__x'],
    ['naïve.txt', 'na_ve.txt'],
    ['x.', 'x_'],
    ['', '_'],
    ['..', '_'],
    ['CON.pem', '_CON.pem'],
    ['lpt1', '_lpt1'],
    ['console.pem', 'console.pem'],
  ] as const) {
    t.equal(safeFileName(name), safe);
    t.same(attachment(name), { 'content-disposition': `attachment; filename="${safe}"` });
  }
  t.match(safeFileName(`${'x'.repeat(300)}.assert`), /^_x{192}\.assert$/, 'a long one keeps its ending');
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (name) => {
      const safe = safeFileName(name);
      t.equal(/^\w[\w.-]{0,199}$/.test(safe) && !safe.endsWith('.'), true, quoteInAscii(name));
      t.equal(safeFileName(safe), safe);
    }),
    { numRuns: 200 },
  );
  t.end();
});

t.test('blobs, manifests and referrers of images are saved under names that say which they are', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const [layer, own] = [createHash('sha256').update('layer').digest('hex'), digestOf(manifest)];
  const hex = own.slice('sha256:'.length);
  for (const [path, name] of [
    [`blobs/${digestOf('layer')}`, `sha256-${layer}`],
    ['manifests/v1', 'image-v1.json'],
    [`manifests/${own}`, `image-sha256-${hex}.json`],
    [`referrers/${own}`, `referrers-sha256-${hex}.json`],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      if (method === 'HEAD' && path.startsWith('referrers')) continue;
      const { status, headers } = await client.call(method, path);
      t.same(
        [status, headers.get('content-disposition')],
        [200, `attachment; filename="${name}"`],
        `${method} ${path}`,
      );
    }
  }
  const part = await client.call('GET', `blobs/${digestOf('layer')}`, undefined, { range: 'bytes=1-2' });
  t.same([part.status, part.headers.get('content-disposition')], [206, `attachment; filename="sha256-${layer}"`]);
});
