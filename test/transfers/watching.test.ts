// A folder that is watched: what a courier lays there comes in without anybody who types.
import { copyFileSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { watchingJob } from '#appliance/watching.ts';
import type { Current } from '#appliance/settings.ts';
import { withBlobs } from '#data/blobs.ts';
import { openStore } from '#data/store.ts';
import { changeConfig } from '#src/config.ts';
import { createHealth } from '#src/health.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { folder } from '#test/cli/process.ts';
import { snapOf } from '#test/fixtures/online-store.ts';
import type { OpenPart } from '#transfers/form/read.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { watchFolder } from '#transfers/watching.ts';
import { Refusal } from '#domain/refusal.ts';
import { example, goodNow, helloWith, partBytes, seedOf, written } from './example.ts';
import { offered, site } from './sites.ts';

t.setTimeout(120_000);

/** A watched folder, and what is taken in of it. */
function watched(refuse: () => Refusal | undefined = () => undefined) {
  const path = folder(t);
  const taken: string[] = [];
  const problems: (string | undefined)[] = [];
  const look = watchFolder({
    folder: () => path,
    async take(parts: readonly OpenPart[]) {
      taken.push(parts.map(({ part }) => String(part)).join());
      const why = refuse();
      if (why !== undefined) throw why;
    },
    report: (problem) => problems.push(problem),
    signal: new AbortController().signal,
  });
  return { path, taken, look, said: () => problems.at(-1) };
}

t.test('a transfer is taken in once, when all of its parts are there and nobody writes them any more', async (t) => {
  const { path, taken, look } = watched();
  const cut = example([Buffer.alloc(3e6, 'a')], { ...goodNow(), partSize: 2 * 1024 * 1024 });
  t.equal(cut.statement.parts.length, 2);
  const first = join(path, 'one.tar');
  writeFileSync(first, await partBytes(cut, 1));
  for (let looks = 0; looks < 3; looks++) t.same(await look(), {});
  t.same(taken, [], 'one part waits for the other');
  writeFileSync(join(path, 'two.tar'), await partBytes(cut, 2));
  t.same(await look(), {}, 'what has just come may still be written');
  t.same(await look(), { taken: 1 });
  t.same(taken, ['1,2']);
  for (let looks = 0; looks < 3; looks++) t.same(await look(), {});
  t.same(taken, ['1,2'], 'never the same twice');
  t.ok(existsSync(first), 'the files stay');
});

t.test('what is no transfer is told and keeps nobody up; what was refused is tried again later', async (t) => {
  let why: Refusal | undefined = new Refusal('insufficient-storage', 'Make room first.');
  const { path, taken, look, said } = watched(() => why);
  writeFileSync(join(path, 'a.tar'), 'no transfer at all');
  writeFileSync(join(path, 'b.txt'), 'nothing of it');
  const [part = ''] = await written(example([Buffer.from('b')], goodNow()), folder(t));
  copyFileSync(part, join(path, 'c.tar'));
  await look();
  t.same(await look(), {});
  t.match(
    said(),
    /a\.tar in the watched folder was not taken in: It is .*c\.tar in the watched folder .*Make room first/,
  );
  t.equal(taken.length, 1);
  why = undefined;
  for (let looks = 0; looks < 200 && taken.length < 2; looks++) await look();
  t.equal(taken.length, 2, 'there is room now');
  t.match(said(), /a\.tar/);
  t.notMatch(said(), /c\.tar/);
  writeFileSync(join(path, 'a.tar'), readFileSync(part));
  utimesSync(join(path, 'a.tar'), 1, 1);
  await look();
  t.same(await look(), { taken: 1 }, 'another file under the same name is another file');
  t.equal(said(), undefined);
});

t.test('what lies in the folder is let in by the store itself, and what waits for people says why', async (t) => {
  const [path, stick, here] = [folder(t), folder(t), await site(t, 'site-a')];
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await here.done(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --accept automatic`);
  changeConfig(join(here.data, 'larder.toml'), { 'transfers.watch': path });
  const store = await openStore({ directory: here.data });
  t.teardown(store.close);
  const file = snapOf(offered('hello-on', 1));
  const packages = [{ ...helloWith([file]), name: 'hello-on', id: 'h'.repeat(32) }];
  const laid = async (sequence: number): Promise<void> => {
    const [part = ''] = await written(example([file], { ...goodNow(), sequence, packages }), folder(t));
    copyFileSync(part, join(path, `in-${String(sequence)}.tar`));
  };
  await withBlobs(store, async ({ blobs, digests }) => {
    const health = createHealth({ error: () => undefined, info: () => undefined });
    const current = () => ({ config: store.config }) as ReturnType<Current>;
    const { run } = watchingJob({ store, blobs, digests, health }, current, new AbortController().signal);
    await laid(1);
    await run();
    t.same(await run(), { taken: 1 });
    const [waits] = (await here.done('transfer list')).transfers;
    t.match(waits, { status: 'waiting', why: 'snap/hello-on is new here.', 'received-by': 'larder' });
    await here.done(`transfer accept ${waits.id} --yes`);
    await laid(2);
    await run();
    t.same(await run(), { taken: 1 });
    const came = (await here.done('transfer list')).transfers.find((one: { sequence: number }) => one.sequence === 2);
    t.match(came, { status: 'accepted', 'settled-by': 'larder' });
    writeFileSync(join(path, 'bad.tar'), 'nothing');
    await run();
    await run();
    t.match(health.notices(), [/bad\.tar in the watched folder was not taken in/]);
    t.same(health.problems(), [], 'the store is well all the same');
  });
});

t.test('the store that serves looks into the folder', async (t) => {
  const metrics = String((await (await startStore(t)).anyone.get('/metrics')).body);
  t.match(metrics, /watch-transfers/);
});
