// Attacks by a person with a stick: only content that the source has signed is accepted, and each refusal states the
// reason.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import { stream } from '#assertions/format/assertion.ts';
import { Refusal } from '#domain/refusal.ts';
import { tarHeader } from '#files/tar-header.ts';
import { adasAccount, madeElsewhere, storeKey } from '#test/assertions/world.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { assertionsOf, nameOfRevision, snapOf, type Offered } from '#test/fixtures/packages/online-store.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { contentOf, example, goodNow, helloWith, partBytes, seedOf } from '#test/transfers/statement/example.ts';
import { receiver } from './receiver.ts';
import { offered, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(3_600_000);

const MiB = 1024 * 1024;
const runs = process.env['LARDER_LONG'] === '1' ? 10_000 : 60;

/** The members of an archive, each with its header and padding, and the end. */
function membersIn(bytes: Buffer): Buffer[] {
  const members: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const header = bytes.subarray(at, at + 512);
    if (header.every((byte) => byte === 0)) return [...members, bytes.subarray(at)];
    const size = Number.parseInt(header.subarray(124, 135).toString(), 8);
    const length = 512 + Math.ceil(size / 512) * 512;
    members.push(bytes.subarray(at, at + length));
    at += length;
  }
  return members;
}

t.test('a transfer that was changed in any way is refused, and leaves nothing', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await carry(offered('other-on', 3));
  await depot.done(`transfer make ${join(stick, 'one.tar')} --packages snap/hello-on`);
  await depot.done(`transfer make ${join(stick, 'two.tar')}`);
  const [first, two] = ['one.tar', 'two.tar'].map((name) => readFileSync(join(stick, name))) as [Buffer, Buffer];
  const [members, others] = [membersIn(two), membersIn(first)];
  const { store, attempt } = await receiver(t, siteA);
  const evil = join(stick, 'evil.tar');
  const place = fc.nat(members.length - 1);
  const header = (name: string, type: string): Buffer => {
    const made = tarHeader(name, 0, new Date(0));
    made.write(type, 156);
    return made;
  };
  const changes = fc.oneof(
    fc.tuple(fc.nat(two.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, mask]) => {
      const changed = Buffer.from(two);
      changed.writeUInt8(changed.readUInt8(at) ^ mask, at);
      return changed;
    }),
    fc.nat(two.length - 1).map((length) => two.subarray(0, length)),
    place.map((at) => Buffer.concat(members.toSpliced(at, 1))),
    place.map((at) => Buffer.concat(members.toSpliced(at, 0, members[at]!))),
    fc
      .tuple(place, place)
      .filter(([a, b]) => a !== b && !members[a]!.equals(members[b]!))
      .map(([a, b]) => Buffer.concat(members.with(a, members[b]!).with(b, members[a]!))),
    fc
      .tuple(place, fc.nat(others.length - 1))
      .filter(([a, b]) => !members[a]!.equals(others[b]!))
      .map(([a, b]) => Buffer.concat(members.with(a, others[b]!))),
    fc
      .tuple(
        place,
        fc.constantFrom('1', '2', '3', '5', 'S', 'L', 'x', 'g'),
        fc.constantFrom('../../etc/passwd', '/x', 'blobs/sha256/x'),
      )
      .map(([at, type, name]) => Buffer.concat(members.toSpliced(at, 0, header(name, type)))),
  );
  await fc.assert(
    fc.asyncProperty(changes, async (bytes) => {
      writeFileSync(evil, bytes);
      // Received content would not be read again.
      await store.records.ephemeral(({ transfers }) => transfers.sweep('9999'));
      await attempt([evil]).then(
        () => t.fail('it came in'),
        (error: unknown) => {
          const isTold = error instanceof NotATransfer || error instanceof Refusal;
          if (!isTold) throw error;
          t.match(error.message, /^(?:[A-Z]|index\.json|oci-layout|larder\/|blobs\/).*\.$/s, 'a sentence');
        },
      );
    }),
    { numRuns: runs },
  );
  // A transfer with a valid statement may be received in part. None of it shows, and content with a wrong digest is not
  // kept.
  t.same(await store.records.packages.after('', '', 10), []);
  const rows = await store.records.transfers.list(10);
  t.ok(rows.every(({ status }) => status === 'waiting'));
  t.match(await attempt([join(stick, 'two.tar')]), { lacking: [] }, 'the one that was not changed comes in');
});

t.test('a transfer with the signature of another key, under any name, is refused', async (t) => {
  const { here: siteA, stick } = await twoSites(t);
  const { attempt } = await receiver(t, siteA);
  const file = join(stick, 'forged.tar');
  const statement = { source: 'depot', ...goodNow() };
  writeFileSync(file, await partBytes(example([Buffer.from('evil')], { ...statement, seed: seedOf(7) })));
  await t.rejects(attempt([file]), { message: /signed with 0 of the keys of 'depot'/ });
  const strange = join(stick, 'strange.tar');
  writeFileSync(strange, await partBytes(example([Buffer.from('evil')], { ...statement, source: 'nobody' })));
  await t.rejects(attempt([strange]), { message: /comes from 'nobody', and this site does not trust/ });
});

largeTest('parts of different transfers, older transfers and expired ones are refused', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  for (const name of ['one', 'two']) await depot.done(`transfer make ${join(stick, `${name}.tar`)} --expires 1`);
  const { attempt } = await receiver(t, siteA);
  const [first, two] = [join(stick, 'one.tar'), join(stick, 'two.tar')];
  await t.rejects(attempt([first, two]), { message: /parts of different transfers/ });
  await siteA.done(`transfer receive ${two}`);
  const [{ id }] = ((await siteA.done('transfer list')) as { transfers: [{ id: string }] }).transfers;
  await siteA.done(`transfer accept ${id} --yes`);
  await t.rejects(attempt([first]), { message: /number 1 of 'depot', and number 2 was already accepted/ });
});

t.test('a transfer in parts is received in any order, and on many visits', async (t) => {
  const { here: siteA, stick } = await twoSites(t);
  const { attempt, store } = await receiver(t, siteA);
  const big = Buffer.alloc(8 * 1024 * 1024, 'larder');
  const folder = join(stick, 'parts');
  const validity = goodNow();
  const transfer = example([big, Buffer.from('small')], { ...validity, source: 'maker', partSize: 3 * 1024 * 1024 });
  t.ok(transfer.statement.parts.length >= 3, 'on a visit there are several of them');
  await store.acts.do(
    trustSource,
    { actor: 'cli:ada' },
    {
      name: 'maker',
      keys: [transfer.seed.publicKey],
      threshold: 1,
      packages: ['*/*'],
      mayRelease: true,
    },
  );
  const files: string[] = [];
  for (const [at] of transfer.statement.parts.entries()) {
    files.push(`${folder}-${String(at)}.tar`);
    writeFileSync(files[at]!, await partBytes(transfer, at + 1));
  }
  const last = files.pop()!;
  const came = await attempt([last]);
  t.same(came.lacking, transfer.statement.parts.map((_, at) => at + 1).slice(0, -1));
  t.same((await attempt([last])).lacking, came.lacking, 'the same part once more changes nothing');
  const end = await attempt(files);
  t.same(end.lacking, []);
  const sha3 = transfer.statement.blobs.at(0)!['sha3-384'];
  t.ok((await store.records.transfers.arrived(end.id)).has(sha3), 'what was cut is put together');
  t.same(readdirSync(join(siteA.data, 'transfers', end.id)), [], 'and its pieces are gone');
});

largeTest('a transfer is joined from its received parts, and a failing part loses none of the others', async (t) => {
  const { here: siteA, stick } = await twoSites(t);
  const { attempt, store } = await receiver(t, siteA);
  const seed = seedOf(5);
  const source = { name: 'cutter', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, source);
  let sequence = 0;
  /** Parts of a content in several files; the file of each, and the offset of the content in it. */
  const cut = async (fill: string, inOrder = (files: Buffer[]) => files) => {
    const statement = { ...goodNow(), source: 'cutter', sequence: ++sequence, seed, partSize: 3 * MiB };
    const transfer = example(inOrder([Buffer.alloc(7 * MiB, fill), Buffer.from(`small ${fill}`)]), statement);
    const files: string[] = [];
    for (const [at] of transfer.statement.parts.entries()) {
      files.push(join(stick, `${fill}-${String(at + 1)}.tar`));
      writeFileSync(files[at]!, await partBytes(transfer, at + 1));
    }
    const of = transfer.statement.parts.map((pieces) => pieces.values().find(({ size }) => size > MiB / 2)!);
    t.equal(new Set(of.map(({ blob }) => blob)).size, 1, 'one content lies in all of them');
    return { files, of, folder: join(siteA.data, 'transfers', idOf(transfer.bytes)) };
  };
  const spoil = (file: string): (() => void) => {
    const good = readFileSync(file);
    const bad = Buffer.from(good);
    bad[2 * MiB]! ^= 1;
    writeFileSync(file, bad);
    return () => {
      writeFileSync(file, good);
    };
  };

  const once = await cut('once');
  const folderStates: boolean[] = [];
  const whole = await attempt([once.files[2]!, once.files[0]!, ...once.files], undefined, (blobs) => ({
    copyIn(ranges, how) {
      folderStates.push(existsSync(once.folder));
      return blobs.copyIn(ranges, how);
    },
  }));
  t.same(
    [whole.lacking, folderStates],
    [[], [false, false]],
    'nothing is copied twice, also where a part is named twice',
  );

  const bad = await cut('bad');
  const mend = spoil(bad.files[1]!);
  await t.rejects(attempt(bad.files), { message: `The content ${bad.of[1]!.sha256} in it is corrupt.` });
  t.same(readdirSync(bad.folder).sort(), [bad.of[0]!.sha256, bad.of[2]!.sha256].sort(), 'the others are kept');
  t.same(readdirSync(join(siteA.data, 'blobs', 'tmp')), []);
  mend();
  for (const at of [0, 2]) spoil(bad.files[at]!);
  t.same((await attempt(bad.files)).lacking, [], 'and are not read again');
  t.same(readdirSync(bad.folder), []);

  const pulled = openSync(siteA.data, 'r');
  t.teardown(() => {
    closeSync(pulled);
  });
  /** Parts, one failing like a pulled stick, at several sizes of pieces. */
  const failing = (files: readonly string[], at: number, isMeant: (size: number) => boolean) =>
    attempt(files, (part) => ({
      ...part,
      async *pieces() {
        for await (const piece of part.pieces()) {
          const { size } = piece.piece;
          const ranges = () => [{ descriptor: pulled, offset: 0, size }];
          yield part.part === at && isMeant(size) ? { ...piece, ranges } : piece;
        }
      },
    }));
  const lost = await cut('lost');
  const failed = (path: string | undefined) => ({ code: 'EISDIR', path, syscall: 'read' });
  await t.rejects(
    failing(lost.files, 2, (size) => size > MiB / 2),
    failed(lost.files[1]),
  );
  t.same((await attempt([lost.files[1]!])).lacking, [], 'the part that could not be read is enough');
  const reversed = await cut('beside', (files) => files.toReversed());
  const [first, second, ...others] = reversed.files;
  await t.rejects(
    failing([second!, first!, ...others], 1, (size) => size < MiB / 2),
    failed(first),
  );
  const { lacking } = await attempt([first!]);
  t.same(lacking.includes(2), false, 'nor need one be brought again that was read before another one failed');
});

t.test('an impossible statement of a trusted source is reported, and nothing is accepted', async (t) => {
  const { here: siteA, stick } = await twoSites(t);
  const nothing = { declares: [], packageYaml: null, craftYaml: null, prose: null };
  const { attempt, store } = await receiver(t, siteA, () =>
    Promise.resolve({ kind: 'revision', version: '1', details: { architectures: ['amd64'] }, ...nothing }),
  );
  const validity = goodNow();
  const { statement, seed } = example([Buffer.from('one'), Buffer.from('two')], { ...validity, source: 'maker' });
  const trusted = { name: 'maker', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, trusted);
  const [hello] = statement.packages;
  const release = (more: object) => ({
    channel: 'latest/stable',
    slot: 'amd64',
    architecture: 'amd64',
    revision: 1,
    'released-at': validity.created,
    ...more,
  });
  const wrong: [more: object, why: RegExp][] = [
    [{ channel: 'stable' }, /This is not a valid channel name/],
    [{ channel: 'latest/../stable' }, /This is not a valid channel name/],
    [{ channel: '9/stable' }, /does not contain its track/],
    [{ slot: 'riscv64' }, /is not for riscv64/],
    [{ architecture: 'riscv64' }, /is not for amd64/],
    [{ slot: '*' }, /is not for \*/],
    [{ revision: 7 }, /neither here nor in the transfer/],
    [{ resources: [{ name: 'part', type: 'file', revision: 3 }] }, /resource part is neither here/],
  ];
  const channels = wrong.map(([more], at) => ({
    ...release(more),
    ...(at > 2 && { channel: `latest/edge/b${String(at)}` }),
  }));
  const evil = example([Buffer.from('one'), Buffer.from('two')], {
    ...validity,
    source: 'maker',
    packages: [{ ...hello!, channels }],
  });
  const file = join(stick, 'evil.tar');
  writeFileSync(file, await partBytes(evil));
  const { id } = await attempt([file]);
  const { problems } = (await siteA.json(`transfer preview ${id}`)) as { problems: { why: string }[] };
  t.match(
    problems.map(({ why: reason }) => reason),
    wrong.map(([, pattern]) => pattern),
  );
  t.match((await siteA.larder(`transfer accept ${id} --yes`)).err, /Nothing was accepted/);
  t.same(await store.records.packages.after('', '', 10), []);
});

t.test(
  'assertions of a type that is not known here are left out with the reason, and the rest is accepted',
  async (t) => {
    const { here: siteA, stick } = await twoSites(t);
    const { attempt, store } = await receiver(t, siteA);
    const unknown = await Promise.all(
      ['cluster', 'from-the-future'].map((type) => madeElsewhere('ada', 'ada', type, { sequence: '1' })),
    );
    const bytes = Buffer.from(stream([storeKey, adasAccount, ...unknown]));
    const assertions = [contentOf(bytes)];
    const transfer = example([bytes], { ...goodNow(), source: 'maker', packages: [], accounts: [], assertions });
    const trusted = {
      name: 'maker',
      keys: [transfer.seed.publicKey],
      threshold: 1,
      packages: ['*/*'],
      mayRelease: true,
    };
    await store.acts.do(trustSource, { actor: 'cli:ada' }, trusted);
    const file = join(stick, 'newer.tar');
    writeFileSync(file, await partBytes(transfer));
    const { id } = await attempt([file]);
    const seen = await siteA.json(`transfer preview ${id}`);
    t.same(seen.disbelieved, [
      {
        what: 'assertion/cluster',
        why: "This store does not serve assertions of type 'cluster'. Leave them out.",
      },
      { what: 'assertion/from-the-future', why: 'Assertions of type "from-the-future" are not known here.' },
    ]);
    t.same(seen.problems, []);
    t.match(seen.lines, [{ package: 'assertion/account-key' }, { what: 'account/ada' }]);
    await siteA.json(`transfer accept ${id} --yes`);
    t.ok(await store.records.assertions.find('account/ada'));
  },
);

/** Contradictions between the assertions of a snap and its transfer. */
const otherwise: Record<string, Partial<Offered>> = {
  'size-off': { revised: { 'snap-size': '17' } },
  'numb-off': { revised: { 'snap-revision': '13' } },
  'iden-off': { id: 'x'.repeat(32) },
  'name-off': { declared: { 'snap-name': 'other-it' } },
  'publ-off': { publisher: 'imposter' },
  'file-off': {},
};

t.test(
  'a snap with assertions that contradict the transfer stays out, and the snaps that they confirm are accepted',
  async (t) => {
    const { here: siteA, stick } = await twoSites(t);
    const seed = seedOf(3);
    const trusted = { name: 'teller', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
    const { store } = await receiver(t, siteA);
    await store.acts.do(trustSource, { actor: 'cli:ada' }, { ...trusted, accept: 'automatic' });
    const files: Buffer[] = [];
    const assertions: Buffer[] = [];
    const packages = [];
    for (const name of ['good-one', ...Object.keys(otherwise)]) {
      const snap = offered(name, 12);
      const file = snapOf(snap);
      // Of `file-off` an assertion is named that speaks of another file of it, of the same size.
      const spokenOf = name === 'file-off' ? snapOf({ ...snap, version: '9.99' }) : file;
      files.push(file);
      assertions.push(Buffer.from(stream(await assertionsOf({ ...snap, ...otherwise[name] }, spokenOf))));
      const [hello] = [helloWith([file])];
      const revision = { ...hello.revisions[0]!, revision: 12, assertion: nameOfRevision(spokenOf) };
      packages.push({
        ...hello,
        id: snap.id,
        name,
        publisher: 'maker',
        revisions: [{ ...revision, 'created-by': 'maker' }],
      });
    }
    const statement = { ...goodNow(), source: 'teller', seed, packages, assertions: assertions.map(contentOf) };
    const part = join(stick, 'told.tar');
    writeFileSync(part, await partBytes(example([...files, ...assertions], statement)));

    const reason = 'Its assertion and the transfer contradict each other.';
    const came = await siteA.larder(`transfer receive ${part} --json`);
    t.match(came, { code: 0 });
    const { id, why: waits } = JSON.parse(came.out) as { id: string; why: string };
    t.match(waits, reason, 'nor does it come in by itself');
    const seen = (await siteA.json(`transfer preview ${id}`)) as { problems: object[]; lines: { kind: string }[] };
    t.same(
      seen.problems,
      Object.keys(otherwise).map((name) => ({ package: `snap/${name}`, what: 'revision 12', why: reason })),
    );
    t.match(
      seen.lines.filter(({ kind }) => kind === 'revision'),
      [{ package: 'snap/good-one', word: 'upstream', notes: [] }],
    );
    t.match(await siteA.larder(`transfer accept ${id} --yes`), { code: 1, err: new RegExp(reason) });
    t.same(await store.records.packages.after('', '', 10), []);
    const without = Object.keys(otherwise).map((name) => `--without snap/${name}`);
    await siteA.done(`transfer accept ${id} ${without.join(' ')} --yes`);
    t.same(
      (await store.records.packages.after('', '', 10)).map(({ name }) => name),
      ['good-one'],
    );
  },
);
