// The form of a transfer: a written statement is read back, and no other text is.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { SpillFile } from '#files/spill-file.ts';
import { tarHeader } from '#files/tar-header.ts';
import { composeUnsigned } from '#transfers/make/compose.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { openPart } from '#transfers/parts/open-part.ts';
import { readSignatures, addSignature, findSigners } from '#transfers/statement/signatures.ts';
import { keyIdOf } from '#transfers/statement/site-keys.ts';
import { maxStatementBytes, readStatement, writeStatement } from '#transfers/statement/statement.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { digest, example, helloWith, partBytes, seedOf, written } from './example.ts';

const mebibyte = 1024 * 1024;

/** Everything that a part holds, by the number of its blob. */
async function contentsIn(file: string): Promise<Map<number, Buffer[]>> {
  const part = await openPart(file);
  const contents = new Map<number, Buffer[]>();
  try {
    for await (const { piece, bytes } of part.pieces()) {
      for await (const some of bytes())
        contents.set(piece.blob, [...(contents.get(piece.blob) ?? []), Buffer.from(some)]);
    }
  } finally {
    await part.close();
  }
  return contents;
}

t.test('a written statement is read back, in one part or in many', async (t) => {
  const files = [randomBytes(5), randomBytes(3 * mebibyte + 7), randomBytes(9 * mebibyte), randomBytes(512)];
  for (const partSize of [undefined, 5 * mebibyte]) {
    const transfer = example(files, { ...(partSize && { partSize }) });
    const folder = t.testdir();
    const parts = await written(transfer, folder);
    t.equal(parts.length, partSize === undefined ? 1 : transfer.statement.parts.length);
    const contents: Buffer[] = files.map(() => Buffer.alloc(0));
    for (const [at, file] of parts.entries()) {
      if (partSize !== undefined) t.ok(readFileSync(file).length <= partSize, 'no part is larger than it may be');
      const part = await openPart(file);
      t.equal(part.part, at + 1);
      t.equal(part.id, digest('sha256', transfer.bytes));
      await part.close();
      for (const [blob, bytes] of await contentsIn(file)) contents[blob] = Buffer.concat([contents[blob]!, ...bytes]);
    }
    t.same(contents, files);
  }
});

t.test('the same content makes the same bytes', async (t) => {
  const files = [randomBytes(1000), randomBytes(2000)];
  t.ok((await partBytes(example(files))).equals(await partBytes(example(files))));
});

t.test('tar and an OCI layout reader can look into a part', async (t) => {
  const files = [randomBytes(1000)];
  const folder = t.testdir();
  const [file = ''] = await written(example(files), folder);
  const listed = execFileSync('tar', ['-tvf', file], { encoding: 'utf8' });
  t.match(listed, new RegExp(`1000 .*blobs/sha256/${digest('sha256', files[0]!)}`));
  const into = join(folder, 'into');
  mkdirSync(into);
  execFileSync('tar', ['-xf', file, '-C', into]);
  const read = (path: string): Record<string, never> => JSON.parse(readFileSync(join(into, path), 'utf8')) as never;
  t.same(read('oci-layout'), { imageLayoutVersion: '1.0.0' });
  const { manifests } = read('index.json') as unknown as { manifests: { digest: string; annotations: object }[] };
  t.match(manifests, [{ annotations: { 'org.opencontainers.image.ref.name': 'snap/hello:1' } }]);
  const artifact = read(`blobs/sha256/${manifests[0]!.digest.slice(7)}`);
  t.match(artifact, {
    artifactType: 'application/vnd.larder.revision.v1+json',
    layers: [{ size: 1000, annotations: { 'org.opencontainers.image.title': 'hello_1.snap' } }],
  });
});

largeTest('a part that was changed anywhere is refused', async (t) => {
  const files = [randomBytes(700), randomBytes(1300)];
  const whole = await partBytes(example(files));
  const file = join(t.testdir(), 'changed.tar');
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ mask, at);
      writeFileSync(file, changed);
      // An unsigned statement shows in its list of signers: all other texts are refused while reading.
      try {
        const part = await openPart(file);
        await part.close();
        const signers = findSigners(part.bytes, part.signatureList, [seedOf(1).publicKey]);
        if (signers.length === 0) return;
      } catch (error) {
        return void t.ok(error instanceof NotATransfer);
      }
      await t.rejects(contentsIn(file), NotATransfer, `byte ${String(at)} changed by ${String(mask)}`);
    }),
    { numRuns: 300 },
  );
});

t.test('a part that is cut off, or continues after its end, is refused', async (t) => {
  const whole = await partBytes(example([randomBytes(700)]));
  const file = join(t.testdir(), 'cut.tar');
  for (const length of [0, 1, 511, 512, 600, 5000, whole.length - 1024, whole.length - 1]) {
    writeFileSync(file, whole.subarray(0, length));
    await t.rejects(openPart(file), NotATransfer, `${String(length)} bytes`);
  }
  writeFileSync(file, Buffer.concat([whole, Buffer.alloc(512)]));
  await t.rejects(openPart(file), { message: 'It has data after its end.' });
});

t.test('a statement has one form', (t) => {
  const { statement } = example([Buffer.from('some')]);
  const text = writeStatement(statement).toString();
  const spool = new SpillFile(t.testdir());
  for (const aside of [undefined, spool]) {
    const bytes = Buffer.from(text);
    const read = readStatement(bytes, aside);
    // The spill file is read at its place, and its bytes are foreign.
    if (aside !== undefined) bytes.fill(0);
    const [packages, blobs, parts] = [[...read.packages], [...read.blobs], read.parts.map((pieces) => [...pieces])];
    t.same({ ...read, packages, blobs, parts }, statement);
  }
  spool.close();
  const other = [
    text.replace('{', '{ '),
    text.replace('"format":1', '"format":1,"format":1'),
    text.replace('"source":"depot"', '"source":"d\\u0065pot"'),
    text.replace('"format":1', '"format":1.0'),
    `${text}\n`,
    `\uFEFF${text}`,
  ];
  for (const variant of other) t.throws(() => readStatement(Buffer.from(variant)), NotATransfer);
  t.throws(() => readStatement(Buffer.from(text.replace('"format":1', '"format":3'))), {
    message: 'It has the format 3, which a newer release of larder reads.',
  });
  t.end();
});

t.test('a statement that is longer than a receiver has memory for is neither made nor read', async (t) => {
  const template = helloWith([Buffer.from('some')]);
  const described = Array.from({ length: 26 }, (_, at) => {
    return { ...template, id: `hello-${String(at)}`, name: `hello-${String(at)}`, description: 'a'.repeat(mebibyte) };
  });
  const making = (packages: typeof described): Promise<{ bytes: Buffer | Uint8Array }> =>
    composeUnsigned(
      { accounts: [], assertions: [], packages, contents: new Map(), leftOut: [] },
      {
        sites: [],
        base: { kind: 'none' },
        findPresent: async () => new Set(),
        expiresDays: 1,
        partSize: undefined,
        reason: undefined,
      },
      {
        source: 'depot',
        sequence: 1,
        at: new Date(),
        label: undefined,
        content: async function* () {},
        refuseLacking: async () => undefined,
      },
    );
  await t.rejects(making(described), {
    code: 'conflict',
    message: /takes 26\.0 MiB, but may take at most 24\.0 MiB.* Make several transfers with fewer packages/,
  });
  const { bytes } = await making(described.slice(0, 20));
  t.ok(bytes.length < maxStatementBytes);

  const file = join(t.testdir(), 'long.tar');
  writeFileSync(file, tarHeader('larder/statement.json', maxStatementBytes + 1, new Date(0)));
  await t.rejects(openPart(file), { message: 'It is not a transfer: larder/statement.json is too large.' });
});

t.test('a statement that contradicts itself is refused', (t) => {
  const { statement } = example([Buffer.from('one'), Buffer.from('two')]);
  const [first, second] = statement.parts[0]!;
  const revisions = statement.packages.at(0)!.revisions;
  const other = { ...revisions[1]!, content: { ...revisions[1]!.content, 'sha3-384': '0'.repeat(96) } };
  const { content } = revisions[0]!;
  const resource = { revision: 1, content, 'created-at': statement.created, 'created-by': 'ada', serves: [] };
  // The records keep one of them, and never neither.
  const forNothing = { name: 'site', type: 'file', revisions: [{ ...resource, bases: null, architectures: null }] };
  const wrong = [
    { expires: statement.created },
    { parts: [[first!]] },
    { parts: [[second!, first!, first!]] },
    { parts: [[first!, { ...second!, offset: 1 }]] },
    { parts: [[first!, { ...second!, blob: 7 }]] },
    { parts: [[first!, { ...second!, sha256: '0'.repeat(64) }]] },
    { blobs: [statement.blobs.at(0)!, statement.blobs.at(0)!] },
    { packages: [statement.packages.at(0)!, statement.packages.at(0)!] },
    { packages: [{ ...statement.packages.at(0)!, revisions: [revisions[0]!, other] }] },
    { packages: [{ ...statement.packages.at(0)!, revisions: [revisions[0]!, revisions[0]!] }] },
    { accounts: [statement.accounts[0]!, statement.accounts[0]!] },
    { packages: [{ ...statement.packages.at(0)!, resources: [forNothing] }] },
  ];
  for (const change of wrong) {
    t.throws(
      () => readStatement(writeStatement({ ...statement, ...change })),
      NotATransfer,
      JSON.stringify(change).slice(0, 60),
    );
  }
  t.end();
});

t.test('each item of each list must have its shape', (t) => {
  const { bytes } = example([randomBytes(10), randomBytes(20)]);
  const text = Buffer.from(bytes).toString();
  const refused = (changed: string): void => {
    t.not(changed, text);
    t.throws(() => readStatement(Buffer.from(changed)), {
      name: 'NotATransfer',
      message: /^Its statement is invalid: .*other/,
    });
  };
  for (const list of ['packages', 'blobs', 'parts'] as const) {
    const value = JSON.parse(text) as Record<typeof list, object[] | object[][]>;
    const items = value[list].flat();
    t.ok(items.length > 0, list);
    // The name is after all others in each of these shapes, so the form stays canonical.
    for (const item of [items[0]!, items.at(-1)!]) {
      const before = JSON.stringify(item);
      const at = text.lastIndexOf(before);
      refused(`${text.slice(0, at)}${before.slice(0, -1)},"zz-other":1}${text.slice(at + before.length)}`);
    }
  }
  t.end();
});

t.test('each key counts once, and only for its own signature', async (t) => {
  const { bytes } = example([Buffer.from('one')]);
  const [a, b, c] = [seedOf(1), seedOf(2), seedOf(3)];
  const both = readSignatures(await addSignature(bytes, b, readSignatures(await addSignature(bytes, a))));
  const keys = [a, b, c].map(({ publicKey }) => publicKey);
  t.same(findSigners(bytes, both, keys), [a.publicKey, b.publicKey]);
  t.same(findSigners(bytes, [...both, ...both], [a.publicKey, a.publicKey]), [a.publicKey], 'twice is once');
  t.same(findSigners(Buffer.concat([bytes, Buffer.from(' ')]), both, keys), []);
  const lent = both.map((signature) => ({ ...signature, keyid: keyIdOf(c.publicKey) }));
  t.same(findSigners(bytes, lent, [c.publicKey]), [], 'a signature under the name of another key');
});
