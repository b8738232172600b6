// Failing or full media of a transfer: nothing is partial, and the same command resumes.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, cpSync, mkdtempSync, openSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import { remakePart } from '#transfers/make/make.ts';
import { folder, start } from '#test/cli/process.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { example, goodNow, written } from '#test/transfers/statement/example.ts';
import { receiver } from './receiver.ts';
import { offered, site, trust, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

const MiB = 1024 * 1024;

t.test('a stick that fails in the middle, or a file that shrinks while it is read, leaves nothing wrong', async (t) => {
  const siteA = await site(t, 'site-a');
  const { attempt, store } = await receiver(t, siteA);
  const statement = { source: 'maker', ...goodNow() };
  const files = ['one', 'two', 'three'].map((name) => Buffer.alloc(3 * MiB, name));
  const transfer = example(files, statement);
  const source = { name: 'maker', keys: [transfer.seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, source);
  const [file = ''] = await written(transfer, folder(t));
  // A folder that can be opened but fails to read, like a pulled stick.
  const [stick, pulled] = [openSync(file, 'r'), openSync(siteA.data, 'r')];
  t.teardown(() => {
    for (const descriptor of [stick, pulled]) closeSync(descriptor);
  });
  await t.rejects(
    attempt([file], (part) => ({
      ...part,
      async *pieces() {
        let number = 0;
        for await (const piece of part.pieces()) {
          if (++number < 3) yield piece;
          else
            yield {
              ...piece,
              *ranges() {
                yield { descriptor: stick, offset: piece.at.offset, size: MiB };
                yield { descriptor: pulled, offset: 0, size: 2 * MiB };
              },
            };
        }
      },
    })),
    { code: 'EISDIR', path: file, syscall: 'read' },
  );
  const id = (await store.records.transfers.list(1))[0]?.id ?? '';
  t.same((await store.records.transfers.arrived(id)).size, 2, 'what came whole before it failed stays');
  const copy = `${file}.copy`;
  await t.rejects(
    attempt([file], (part) => {
      cpSync(file, copy);
      truncateSync(file, 7 * MiB);
      return part;
    }),
    { message: `The content ${transfer.statement.blobs.at(2)?.sha256 ?? ''} in it is corrupt.` },
  );
  cpSync(copy, file);
  t.match(await attempt([file]), { lacking: [] }, 'and the same command goes on');
  t.same(readdirSync(join(siteA.data, 'blobs', 'tmp')), [], 'no half file is left');
});

t.test('a part counts as received only when it is durable', async (t) => {
  const { attempt, store } = await receiver(t, await site(t, 'site-a'));
  const transfer = example([Buffer.from('one'), Buffer.from('two')], { source: 'maker', ...goodNow() });
  const source = { name: 'maker', keys: [transfer.seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, source);
  const files = await written(transfer, folder(t));
  const noted = async (): Promise<number> => {
    const [waiting] = await store.records.transfers.list(1);
    return (await store.records.transfers.arrived(waiting?.id ?? '')).size;
  };
  const unplaced = attempt(files, undefined, () => ({
    placed: () => Promise.reject(new Error('the disk is gone')),
  }));
  await t.rejects(unplaced, { message: 'the disk is gone' });
  t.equal(await noted(), 0);
  const before: number[] = [];
  const result = await attempt(files, undefined, (blobs) => ({
    async placed() {
      before.push(await noted());
      await blobs.placed();
    },
  }));
  t.match([result, before, await noted()], [{ lacking: [] }, [0], 2]);
});

largeTest('Ctrl-C leaves nothing of a transfer in the making or unpacking, and receiving resumes', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const ended = new AbortController();
  ended.abort(new Error('interrupted'));
  const file = join(stick, 'in.tar');
  await depot.done(`transfer make ${file}`);
  const { store } = await receiver(t, depot);
  const { withBlobs } = await import('#data/blobs.ts');
  const { keyManagerOf } = await import('#cli/keys/find-keys.ts');
  const { ownSite } = await import('#transfers/site.ts');
  await withBlobs(store, async ({ blobs }) => {
    const { records, acts, now, config } = store;
    const making = {
      records,
      acts,
      actor: { actor: 'cli:ada' },
      blobs,
      site: await ownSite(records, { siteKey: store.siteKey, manager: keyManagerOf(store, { env: {} }) }),
      now,
      labels: config.site,
      asCaller: <Result>(work: () => Promise<Result>) => work(),
      signal: ended.signal,
      progress: () => undefined,
    };
    await t.rejects(
      remakePart({ sequence: 1, part: 1, file: join(stick, 'again.tar'), media: undefined }, making),
      /interrupted/,
    );
  });
  t.same(readdirSync(stick).sort(), ['depot.json', 'in.tar', 'online-hello-on-12'], 'nothing was begun that is left');
  const receiving = start(t, ['transfer', 'receive', file, '--data', siteA.data, '--json']);
  await Promise.race([receiving.says(/progress/), receiving.ended]);
  receiving.child.kill('SIGINT');
  if (receiving.child.exitCode === null) await once(receiving.child, 'exit');
  t.match(await siteA.done(`transfer receive ${file}`), { lacking: [] });
});

/** A disk of its own that is full soon; undefined where this user may not mount one. */
function smallDisk(t: Test, size: string): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'larder-disk-'));
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'larder-test', place]);
  t.teardown(() => {
    if (made.status === 0) spawnSync('umount', ['-l', place]);
    rmSync(place, { recursive: true });
  });
  return made.status === 0 ? place : undefined;
}

function fill(disk: string): void {
  for (const piece of [MiB, 4096])
    for (;;) {
      try {
        appendFileSync(join(disk, 'filler'), Buffer.alloc(piece, 1));
      } catch {
        break;
      }
    }
}

largeTest('a full disk at the depot, at receive and at accept is reported, and leaves nothing partial', async (t) => {
  const [disk, small] = [smallDisk(t, '128m'), smallDisk(t, '1m')];
  if (disk === undefined || small === undefined) {
    t.comment('left out: this user may not mount a disk of its own');
    return;
  }
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk;
  const siteA = await site(t, 'site-a').finally(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  const { changeConfig } = await import('#configuration/config.ts');
  changeConfig(join(siteA.data, 'larder.toml'), { 'uploads.reserve': 1 * MiB });
  const { depot, stick, carry } = await twoSites(t);
  await trust(siteA, depot, join(stick, 'once-more.json'));
  await carry(offered('hello-on', 12));
  const file = join(stick, 'in.tar');
  fill(small);
  const full = await depot.larder(`transfer make ${join(small, 'in.tar')}`);
  t.match(full, { code: 1, err: /cannot write .*in\.tar: .* full/ });
  t.same(readdirSync(small), ['filler'], 'nothing is left on the full stick');
  const { id } = await depot.done(`transfer make ${file}`);
  fill(disk);
  const received = await siteA.larder(`transfer receive ${file}`);
  t.match(received, { code: 1, err: /MiB are free\. Free space first|full/ });
  rmSync(join(disk, 'filler'));
  t.match(await siteA.done(`transfer receive ${file}`), { id, lacking: [] });
  fill(disk);
  const accepted = await siteA.larder(`transfer accept ${id} --yes`);
  if (accepted.code !== 0) t.match(accepted.err, /full|room/);
  rmSync(join(disk, 'filler'));
  t.match(await siteA.json('package list'), { packages: accepted.code === 0 ? [{}] : [] }, 'all of it or nothing');
  t.match(await siteA.done(`transfer accept ${id} --yes`), { transfer: id });
  t.match(await siteA.json('package list'), { packages: [{ name: 'hello-on' }] });
});
