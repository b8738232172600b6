// The job that adds increments to the folder of [backup].
import { appendFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { configDigest } from '#configuration/config.ts';
import { minutes } from '#domain/clock.ts';
import { addIncrements, type IncrementOutput } from '#jobs/store/add-increments.ts';
import { commandsOn, folder as newFolder } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';

async function job(t: Test) {
  const store = await startStore(t, undefined, new Date());
  const folder = newFolder(t);
  const commands = commandsOn(store.directory);
  let passed = 0;
  let addCount = 0;
  const { run } = addIncrements({
    records: store.beside.records,
    settings: () => ({ place: folder, every: '5m' }),
    configuration: () => configDigest(join(store.directory, 'larder.toml')),
    now: () => new Date(Date.now() + passed),
    elapsed: () => passed,
    async add() {
      addCount++;
      const { out, err, code } = await commands.larder(`backup ${folder} --increment --json`);
      if (code !== 0) throw new Error(err);
      return JSON.parse(out) as IncrementOutput;
    },
  });
  return {
    store,
    folder,
    run,
    pass: (time: number) => (passed += time),
    asked: () => addCount,
    count: () => readdirSync(folder).filter((name) => name.endsWith('.tar')).length,
  };
}

t.test('an increment follows each change at its interval, and an unchanged store is not looked at', async (t) => {
  const { store, run, pass, asked: countAdds, count } = await job(t);
  const ada = await store.as('ada');
  t.same(await run(), { increments: 1 });
  await ada.post('/v1/bin', { name: 'one' });
  t.same(await run(), {}, 'the interval has not passed');
  pass(minutes(6));
  t.same(await run(), { increments: 1 });
  pass(minutes(6));
  t.same(await run(), {}, 'nothing has changed');
  t.same([countAdds(), count()], [2, 2]);
  appendFileSync(join(store.directory, 'larder.toml'), '\n# a change by hand\n');
  t.same(await run(), { increments: 1 }, 'the configuration is a part of a backup');
});

t.test('without a change the folder is asked twice a day, because a full backup may be due', async (t) => {
  const { run, pass, asked: countAdds } = await job(t);
  await run();
  for (let at = 0; at < 24 * 6; at++) {
    pass(minutes(10));
    await run();
  }
  t.equal(countAdds(), 3);
});

t.test('a folder that is gone is not tried again before the interval has passed, and then succeeds', async (t) => {
  const { store, folder, run, pass, asked: countAdds, count } = await job(t);
  renameSync(folder, `${folder}-gone`);
  t.teardown(() => rmSync(`${folder}-gone`, { recursive: true, force: true }));
  await t.rejects(run(), /there is no folder/);
  t.same(await run(), {});
  t.equal(countAdds(), 1);
  const { problems } = (await store.anyone.get('/readyz')).body as { problems: string[] };
  t.match(problems.join(), /The last backup failed at .*: there is no folder/);
  renameSync(`${folder}-gone`, folder);
  pass(minutes(5));
  t.same(await run(), { increments: 1 });
  t.equal(count(), 1);
});

t.test('a serving store adds increments by itself', async (t) => {
  const folder = newFolder(t);
  const configure = (text: string): string => text.replace(/^# folder = .*$/m, `folder = "${folder}"`);
  const store = await startStore(t, configure, new Date(), {}, 0);
  await until(() => readdirSync(folder).some((name) => name.endsWith('.tar')));
  await until(() =>
    store.appliance.jobs().some(({ name, running, runs }) => name === 'add-increments' && !running && runs > 0),
  );
  t.match(
    store.appliance.jobs().find(({ name }) => name === 'add-increments'),
    { failures: 0 },
  );
});
