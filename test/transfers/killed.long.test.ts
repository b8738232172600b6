// Receiving and accepting, killed anywhere: all of it or nothing, and the same command resumes. LARDER_EXECUTABLE names
// an executable to kill instead of the sources; it is faster, so more of the kills hit its work.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { openStore } from '#data/store.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { assertionsOf, snapOf } from '#test/fixtures/packages/online-store.ts';
import { larderCommand } from '#test/fixtures/processes/served.ts';
import { offered, twoSites } from './sites.ts';

t.setTimeout(3_600_000);

const kills = process.env['LARDER_LONG'] === '1' ? 250 : 3;

/** Begins a command as a process of its own and kills it after a while, unless it was quicker. */
async function killed(data: string, line: string, after: number): Promise<void> {
  const [program, args] = larderCommand(...line.split(' '), '--data', data);
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await Promise.race([ended, pause(after)]);
  child.kill('SIGKILL');
  await ended;
}

t.test('killed anywhere, a transfer is received in the end, and is accepted as a whole or not at all', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const names = ['kill-one', 'kill-two', 'kill-big'];
  for (const [at, name] of names.slice(0, 2).entries()) await carry(offered(name, at + 1));
  // A transfer in parts, which are joined when they are received.
  const big = offered('kill-big', 3);
  const bytes = Buffer.concat([snapOf(big), Buffer.alloc(4 * 1024 * 1024, 'larder')]);
  const online = join(stick, 'online-big');
  mkdirSync(online);
  writeFileSync(join(online, 'big.snap'), bytes);
  writeFileSync(join(online, 'big.assert'), stream(await assertionsOf(big, bytes)));
  await depot.done(`package import ${online} --release stable --yes`);
  const made = await depot.done(`transfer make ${join(stick, 'in.tar')} --part-size 3`);
  const { id, files } = made as { id: string; files: string[] };
  t.equal(files.length, 2);
  const parts = files.join(' ');
  const copies = folder(t);
  let accepted = 0;
  for (let run = 0; run < kills; run++) {
    const data = join(copies, String(run));
    cpSync(receiver.data, data, { recursive: true });
    const commands = commandsOn(data);
    await killed(data, `transfer receive ${parts}`, 300 + ((run * 274) % 1700));
    t.match(await commands.json('package list'), { packages: [] }, 'nothing shows before it is let in');
    t.match(await commands.json(`transfer receive ${parts}`), { id, lacking: [] });
    await killed(data, `transfer accept ${id} --yes`, 300 + ((run * 422) % 1700));
    const store = await openStore({ directory: data });
    try {
      const packages = await Promise.all(names.map((name) => store.records.packages.find('snap', name)));
      const status = (await store.records.transfers.find(id))?.status;
      const published = packages.filter((record) => record?.status === 'published').length;
      t.equal(published, status === 'accepted' ? names.length : 0, `${status ?? ''}: all or nothing`);
      if (status === 'accepted') accepted++;
    } finally {
      await store.close();
    }
    t.match(await commands.json(`transfer accept ${id} --yes`), { transfer: id }, 'typed again it is done, once');
    t.match(await commands.larder('verify'), { code: 0 });
  }
  t.comment(`${String(accepted)} of ${String(kills)} were let in before they were killed`);
});
