// Sticks in daily use: with files that a desktop has left, and with other archives beside a transfer.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { download } from '#test/fixtures/packages/online-store.ts';
import { filesIn } from '#transfers/receive/watch-folder.ts';
import { appleDouble, seenByMac } from '#test/transfers/desktop.ts';
import { offered, site, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

t.test('a stick that a Mac has seen is read as if it had not, with another archive beside the transfer', async (t) => {
  const { depot, here: receiver, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const stick = folder(t);
  const { id } = (await depot.done(`transfer make ${join(stick, 'in.tar')}`)) as { id: string };
  seenByMac(stick);
  t.notMatch(
    await receiver.done(`transfer check ${stick}`),
    { 'not-read': [] },
    'files of a desktop are not mentioned',
  );
  writeFileSync(join(stick, 'holiday.tar'), 'pictures');
  const checked = await receiver.larder(`transfer check ${stick}`);
  t.match(checked, {
    code: 0,
    out: /The transfer is complete[^]*Not read, because it is not part of a transfer: .*holiday\.tar\.$/m,
  });
  t.match(await receiver.done(`transfer receive ${stick}`), {
    id,
    lacking: [],
    'not-read': [join(stick, 'holiday.tar')],
  });
  const scan = folder(t);
  seenByMac(scan);
  t.match(
    await receiver.larder(`transfer unpack ${stick} ${scan}`),
    { code: 0 },
    'a folder with nothing but these is empty',
  );
  seenBySecondMac(scan);
  t.match(await receiver.larder(`transfer check ${scan}`), { code: 0, out: /The transfer is complete/ });
});

const seenBySecondMac = (folder: string): void => {
  for (const name of readdirSync(folder).filter((file) => !file.startsWith('.')))
    writeFileSync(join(folder, `._${name}`), appleDouble);
};

t.test(
  'an archive beside an incomplete transfer may be its other part, so it is named and nothing is received',
  async (t) => {
    const { depot, here: receiver, carry } = await twoSites(t);
    await carry(offered('hello-on', 12));
    const [stick, damaged] = [folder(t), folder(t)];
    await depot.done(`transfer make ${join(stick, 'in.tar')}`);
    writeFileSync(join(damaged, 'in.tar'), 'damaged on the way');
    const refused = /in\.tar cannot be read as a transfer/;
    t.match(await receiver.larder(`transfer receive ${damaged}`), { code: 1, err: refused });
    t.match(await receiver.larder(`transfer check ${damaged}`), { code: 1, err: refused });
  },
);

t.test('snaps, a collector and a watched folder pass over the files of a desktop too', async (t) => {
  const receiver = await site(t, 'site-a');
  const stick = folder(t);
  await download(stick, offered('hello-on', 12));
  seenByMac(stick);
  writeFileSync(join(stick, '.fetched-0123456789abcdef'), 'snap\thello-on\n');
  t.match(await receiver.larder(`package import ${stick} --release stable --yes`), { code: 0 });
  const collector = join(folder(t), 'collector');
  await receiver.larder(`site init desk --collector --data ${collector}`);
  const gathered = await receiver.larder(
    `transfer gather ${stick} ${join(folder(t), 'out.tar')} --release stable --json --data ${collector}`,
  );
  t.match(JSON.parse(gathered.out), { gathered: [{ name: 'snap/hello-on' }], 'left-out': [] });
  const watched = folder(t);
  writeFileSync(join(watched, 'in.tar'), 'a transfer');
  seenByMac(watched);
  t.same([...(await filesIn(watched)).keys()], [join(watched, 'in.tar')]);
});

t.test('a folder without usable files is refused with the reason for each file', async (t) => {
  const receiver = await site(t, 'site-a');
  const [stick, collector] = [folder(t), join(folder(t), 'collector')];
  writeFileSync(join(stick, 'letter.txt'), 'dear ada');
  await receiver.larder(`site init desk --collector --data ${collector}`);
  const reason = /No file in the folder can be part of a transfer, so no transfer is made\. letter\.txt: /;
  t.match(await receiver.larder(`transfer gather ${stick} ${join(folder(t), 'out.tar')} --data ${collector}`), {
    code: 1,
    err: reason,
  });
  t.match(await receiver.larder(`transfer adopt ${stick} --yes`), { code: 1, err: reason });
  t.match(await receiver.larder(`transfer adopt ${stick} --compare`), {
    code: 1,
    err: /says what the channels of the former store hold/,
  });
});

t.test('a transfer can be read by the user of another store', async (t) => {
  const { depot, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const file = join(folder(t), 'in.tar');
  await depot.done(`transfer make ${file}`);
  t.equal(statSync(file).mode & 0o777, 0o644);
});
