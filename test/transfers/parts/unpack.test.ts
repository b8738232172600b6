// A transfer as plain files for a scanner, and back to the same bytes.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import type { TransferPackage } from '#contract/wire.ts';
import { pathsOf } from '#transfers/parts/paths.ts';
import { larder } from '#test/cli/world.ts';
import { contentOf, example, helloWith, partBytes, seedOf, written, type Example } from '../statement/example.ts';

t.setTimeout(600_000);

const mebibyte = 1024 * 1024;
const done = async (line: string): Promise<string> => {
  const { code, out, err } = await larder(line);
  if (code !== 0) throw new Error(err);
  return out;
};

/** Lies in parts in one folder, and unpacked in another. */
async function unpackedExample(folder: string, transfer: Example): Promise<{ parts: string[]; scan: string }> {
  const from = join(folder, 'in');
  mkdirSync(from);
  const parts = await written(transfer, from);
  const scan = join(folder, 'scan');
  await done(`transfer unpack ${from} ${scan}`);
  return { parts, scan };
}

/** A charm with a resource and an image beside it. */
function charmWith(
  name: string,
  files: { charm: Uint8Array; resource: Uint8Array; layer: Uint8Array },
): TransferPackage {
  const created = { 'created-at': '2026-01-01T00:00:00Z', 'created-by': 'ada' };
  return {
    ...helloWith([]),
    id: `${name}-id`,
    namespace: 'charm',
    name,
    type: 'charm',
    revisions: [{ revision: 34, content: contentOf(files.charm), ...created }],
    resources: [
      {
        name: 'Config.d',
        type: 'file',
        revisions: [
          {
            revision: 2,
            content: contentOf(files.resource),
            ...created,
            bases: null,
            architectures: ['all'],
            serves: [],
          },
        ],
      },
    ],
    images: [{ resource: 'postgresql-image', manifests: [], blobs: [contentOf(files.layer)] }],
  };
}

t.test('unpacked files have their usual names, and are packed again to the same bytes', async (t) => {
  const folder = t.testdir();
  const [snap, charm, resource, layer] = [randomBytes(700), randomBytes(5 * mebibyte), randomBytes(9), randomBytes(99)];
  const files = [snap, charm, resource, layer, Buffer.from('type: account\n')];
  const packages = [helloWith([snap]), charmWith('postgresql-k8s', { charm, resource, layer })];
  for (const partSize of [undefined, 3 * mebibyte]) {
    const at = join(folder, String(partSize ?? 'whole'));
    mkdirSync(at);
    const transfer = example(files, { packages, assertions: [contentOf(files[4]!)], ...(partSize && { partSize }) });
    const { parts, scan } = await unpackedExample(at, transfer);
    t.equal(parts.length > 1, partSize !== undefined);
    t.same(readFileSync(join(scan, 'snap/hello_1.snap')), snap);
    t.ok(readFileSync(join(scan, 'charm/postgresql-k8s_34.charm')).equals(charm));
    t.same(readFileSync(join(scan, 'charm/postgresql-k8s_Config.d_2')), resource);
    t.same(readFileSync(join(scan, 'images', contentOf(layer).sha256)), layer);
    t.same(readFileSync(join(scan, 'assertions/1.assert')), files[4]);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: scan });
    await done(`transfer pack ${scan} ${join(at, 'again.tar')}`);
    const again = readdirSync(at)
      .filter((name) => name.startsWith('again'))
      .sort();
    t.equal(again.length, parts.length);
    for (const [part, name] of again.entries()) {
      t.ok(readFileSync(join(at, name)).equals(readFileSync(parts[part]!)), `${name} has the same bytes`);
    }
    t.match(await done(`transfer check ${scan}`), /The transfer is complete/);
  }
});

t.test('a changed or removed file is named, and nothing is packed', async (t) => {
  const folder = t.testdir();
  const { scan } = await unpackedExample(folder, example([randomBytes(700), randomBytes(800), randomBytes(900)]));
  const again = join(folder, 'again.tar');
  const refused = async (line = `transfer pack ${scan} ${again}`): Promise<string> => {
    const { code, err } = await larder(line);
    t.equal(code, 1);
    t.notOk(existsSync(again));
    t.same(readdirSync(folder).sort(), ['in', 'scan'], 'nothing is left behind');
    return err;
  };
  const second = join(scan, 'snap/hello_2.snap');
  writeFileSync(second, randomBytes(800));
  t.match(await refused(), /snap\/hello_2\.snap has changed since the transfer was unpacked/);
  t.match(await refused(`transfer check ${scan}`), /snap\/hello_2\.snap has changed since the transfer was unpacked/);
  truncateSync(second, 3);
  truncateSync(join(scan, 'snap/hello_1.snap'), 3);
  t.match(await refused(), /snap\/hello_1\.snap, snap\/hello_2\.snap have changed since the transfer was unpacked/);
  rmSync(second);
  symlinkSync('/dev/zero', second);
  t.match(await refused(), /hello_1\.snap, snap\/hello_2\.snap have changed/, 'a link is no file of it');
  rmSync(second);
  rmSync(join(scan, 'snap/hello_1.snap'));
  t.match(await refused(), /hello_1\.snap, snap\/hello_2\.snap are missing, and the signature of the source/);
  t.match((await larder(`transfer check ${scan}`)).out, /Not here: snap\/hello_1\.snap, snap\/hello_2\.snap\./);
});

t.test('a folder with files in it, and incomplete parts, are not unpacked', async (t) => {
  const folder = t.testdir({ full: { 'a.txt': 'mine' }, other: {} });
  const transfer = example([randomBytes(5 * mebibyte)], { partSize: 3 * mebibyte });
  const parts = await written(transfer, folder);
  const refused = async (line: string): Promise<string> => (await larder(line)).err;
  const into = join(folder, 'scan');
  t.match(await refused(`transfer unpack ${parts.join(' ')} ${join(folder, 'full')}`), /full is not empty/);
  t.same(readdirSync(join(folder, 'full')), ['a.txt']);
  t.match(await refused(`transfer unpack ${parts.join(' ')} ${parts[0]!}`), /is a file\. Name an empty folder last/);
  t.match(await refused(`transfer unpack ${parts[0]!} ${into}`), /Part 2.* of \d is missing/);
  t.match(await refused(`transfer unpack ${parts[0]!}`), /name the parts, and last the folder/);
  const others = await written(example([randomBytes(9)]), join(folder, 'other'));
  t.match(await refused(`transfer unpack ${parts[0]!} ${others[0]!} ${into}`), /parts of different transfers/);
  const signed = example([transfer.files[0]!], { partSize: 3 * mebibyte, seed: seedOf(2) });
  writeFileSync(parts[1]!, await partBytes(signed, 2));
  t.match(
    await larder(`transfer unpack ${parts.join(' ')} ${into} --json`),
    { code: 0 },
    'parts that others signed fit',
  );
  const { signatures } = JSON.parse(readFileSync(join(into, 'larder/signatures.json'), 'utf8')) as { signatures: [] };
  t.equal(signatures.length, 2, 'and have the signatures of all');
  rmSync(into, { recursive: true });
  const damaged = readFileSync(others[0]!);
  const content = damaged.length - 3 * 512;
  damaged.writeUInt8(damaged.readUInt8(content) ^ 1, content);
  writeFileSync(others[0]!, damaged);
  t.match(await refused(`transfer unpack ${others[0]!} ${into}`), /The content .* in it is corrupt/);
  t.same(existsSync(into) ? readdirSync(into) : [], [], 'nothing is left of what failed');
});

t.test('pieces that are right, of a content that is not, are not unpacked', async (t) => {
  const folder = t.testdir({ in: {} });
  const bytes = randomBytes(5 * mebibyte);
  const blobs = [{ ...contentOf(bytes), sha256: '0'.repeat(64), 'media-type': 'a/b' }];
  await written(example([bytes], { partSize: 3 * mebibyte, packages: [], blobs }), join(folder, 'in'));
  const { err } = await larder(`transfer unpack ${join(folder, 'in')} ${join(folder, 'scan')}`);
  t.match(err, /The pieces of others\/0+ are not those of the content/);
  t.same(readdirSync(join(folder, 'scan')), []);
});

t.test('no name leads out of the folder, and no two files have the same one', (t) => {
  const alike = ['config', 'Config', '..', 'x'.repeat(128), 'X'.repeat(128)];
  const word = fc.oneof(fc.constantFrom(...alike), fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/));
  const type = fc.constantFrom('snap', 'constructor', 'bundle', 'valueof');
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 1, maxLength: 6 }),
      type,
      fc.oneof(fc.constant('n'.repeat(128)), fc.stringMatching(/^[a-z0-9]{1,128}$/)),
      (names, kind, name) => {
        const files = names.flatMap((resourceName) => [randomBytes(8), Buffer.from(resourceName)]);
        const resources = names.map((resourceName, at) => ({
          ...charmWith(name, { charm: files[0]!, resource: files[2 * at]!, layer: files[1]! }).resources[0]!,
          name: resourceName,
        }));
        const packages = [{ ...helloWith([Buffer.from('own'), Buffer.from('two')]), name, type: kind, resources }];
        const all = [...files, Buffer.from('own'), Buffer.from('two')].map((bytes) => ({
          ...contentOf(bytes),
          'media-type': 'a/b',
        }));
        const blobs = [...new Map(all.map((blob) => [blob.sha256, blob])).values()];
        const paths = pathsOf({ packages, assertions: [], blobs });
        t.equal(new Set(paths.map((path) => path.toLowerCase())).size, blobs.length);
        for (const path of paths) {
          const [folder = '', file = '', ...more] = path.split('/');
          if (more.length > 0 || !/^[a-z]+$/.test(folder) || !/^[a-z0-9][A-Za-z0-9._~-]{0,254}$/.test(file))
            throw new Error(path);
        }
      },
    ),
    { numRuns: 300 },
  );
  t.end();
});
