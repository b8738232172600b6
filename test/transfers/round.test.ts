// A running site's round in few commands: received and previewed in one, accepted with its receipt in one.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { openStore } from '#data/store.ts';
import { site, twoSites, offered } from './sites.ts';
import { sent, trustCommand } from './two-of-three.ts';

t.setTimeout(600_000);

t.test(
  'receive --preview shows what the received transfer would change, and accept --receipt writes its receipt',
  async (t) => {
    const { depot, here: receiver, stick, carry } = await twoSites(t);
    await carry(offered('hello-on', 12));
    const part = join(stick, 'in.tar');
    const { id } = (await depot.done(`transfer make ${part}`)) as { id: string };
    const received = await receiver.larder(`transfer receive ${part} --preview`);
    t.match(received, {
      code: 0,
      out: /waits here\.[^]*Transfer [0-9a-f]{12}, number 1 of depot: waiting\.[^]*snap\/hello-on +revision 12/,
    });
    const again = await receiver.done(`transfer receive ${part} --preview`);
    const preview = await receiver.done(`transfer preview ${id}`);
    t.same(again.preview, preview, 'it is the preview that transfer preview shows');
    const receipt = join(stick, 'receipt.json');
    writeFileSync(receipt, 'of another one');
    t.match(await receiver.larder(`transfer accept ${id} --yes --receipt ${receipt}`), {
      code: 1,
      err: /is there already/,
    });
    t.match(await receiver.done('transfer list'), { transfers: [{ status: 'waiting' }] }, 'nothing was accepted');
    rmSync(receipt);
    const accepted = await receiver.done(`transfer accept ${id} --yes --seen ${preview.digest} --receipt ${receipt}`);
    t.match(accepted, { transfer: id, receipt: { file: receipt, bytes: Number, sha256: /^[0-9a-f]{64}$/ } });
    const { payload } = JSON.parse(readFileSync(receipt, 'utf8')) as { payload: string };
    t.match(JSON.parse(Buffer.from(payload, 'base64').toString()), { transfer: id, source: 'depot', sequence: 1 });
    t.match(
      await receiver.larder(`transfer receive ${part} --preview`),
      { code: 0, out: /was already accepted[^\n]*\n$/ },
      'what is accepted has no preview',
    );
  },
);

t.test('receive --preview of a transfer with problems, or of some of its parts, ends with exit code 1', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(`${trustCommand(t)} --packages charm/*`);
  const { part } = await sent(t, { sequence: 1 });
  t.match(await receiver.larder(`transfer receive ${part} --preview`), {
    code: 1,
    out: /may bring charm\/\*, and not this/,
  });
  const [taken, unpacked] = [await sent(t, { sequence: 2, revisions: [1, 2] }), join(folder(t), 'unpacked')];
  await receiver.done(trustCommand(t));
  await receiver.done(`transfer unpack ${taken.part} ${unpacked}`);
  rmSync(join(unpacked, 'snap/hello-on_2.snap'));
  t.match(await receiver.larder(`transfer receive ${unpacked} --preview`), {
    code: 1,
    out: /Without snap\/hello-on_2\.snap[^]*neither in the transfer nor here/,
  });
});

t.test('a receipt is written when the transfer is accepted, and not while it waits for approvals', async (t) => {
  const { run, judge } = await askingSite(t, 'transfers = "1 of B"');
  await run('site init site-b');
  const trust = trustCommand(t);
  await run(trust);
  await judge('approve', 'bob', 1);
  t.match(await run(trust), { code: 0 });
  const { part, id } = await sent(t, { sequence: 1 });
  await run(`transfer receive ${part}`);
  const receipt = join(folder(t), 'receipt.json');
  t.match(await run(`transfer accept ${id} --yes --receipt ${receipt}`), { code: 1, err: /Waits for 1 more approval/ });
  t.notOk(existsSync(receipt));
  await judge('approve', 'bob', 2);
  t.match(await run(`transfer accept ${id} --yes --receipt ${receipt}`), { code: 0, out: /Its receipt is in / });
  t.ok(existsSync(receipt));
});

t.test('a withdrawal restores a channel that was closed and a progressive release that was ended', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  let count = 0;
  const send = async (): Promise<string> => {
    const file = join(stick, `${String(++count)}.tar`);
    const { id } = await depot.done(`transfer make ${file}`);
    await receiver.done(`transfer receive ${file}`);
    await receiver.done(`transfer accept ${id} --yes`);
    return id;
  };
  const store = await openStore({ directory: receiver.data });
  t.teardown(store.close);
  const channels = async (): Promise<string[]> => {
    const { id } = (await store.records.packages.find('snap', 'hello-on'))!;
    const held = await store.records.releases.current(id, '2026');
    return held
      .map((release) => `${release.channel} ${String(release.revision)} ${String(release.progressive.percentage)}`)
      .sort();
  };
  await carry(offered('hello-on', 12));
  await carry(offered('hello-on', 13), 'edge');
  await depot.done('release snap/hello-on 13 stable --progressive 20');
  await send();
  const before = ['latest/edge 13 null', 'latest/stable 12 null', 'latest/stable 13 20'];
  t.strictSame(await channels(), before);
  await depot.done('release snap/hello-on 12 stable');
  await depot.done('close snap/hello-on edge --yes');
  const second = await send();
  t.strictSame(await channels(), ['latest/stable 12 null']);
  await receiver.done(`transfer withdraw ${second} --yes`);
  t.strictSame(await channels(), before);
});
