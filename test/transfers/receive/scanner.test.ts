// The work of a scanning station: a transfer is unpacked, one file is rejected and removed, and the rest is accepted.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { folder } from '#test/cli/process.ts';
import { assertionsOf, offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { twoSites } from '#test/transfers/sites.ts';

t.setTimeout(1_200_000);

const count = process.env['LARDER_LONG'] === '1' ? 400 : 8;

/**
 * A text that every scanner detects (EICAR, "Anti-Malware Testfile"); joined here, so that no scanner finds it in the
 * sources.
 */
const testVirus = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join('');

t.test('content that a scanner removes stays out, is named in the receipt, and the rest is accepted', async (t) => {
  const { depot, here: receiver } = await twoSites(t);
  const [online, stick] = [folder(t), folder(t)];
  const names = Array.from({ length: count }, (_, at) => `snap-${String(at).padStart(3, '0')}`);
  for (const [at, name] of names.entries()) {
    const snap = offered(name, at + 1);
    const clean = snapOf(snap);
    const file = at === 3 ? Buffer.concat([clean, Buffer.from(testVirus)]) : clean;
    writeFileSync(join(online, `${name}_${String(at + 1)}.snap`), file);
    writeFileSync(join(online, `${name}_${String(at + 1)}.assert`), stream(await assertionsOf(snap, file)));
  }
  await depot.done(`package import ${online} --release stable --yes`);
  const { id } = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
  const scan = join(stick, 'scan');
  await depot.done(`transfer unpack ${join(stick, 'in.tar')} ${scan}`);

  const snaps = join(scan, 'snap');
  t.equal(readdirSync(snaps).length, count);
  const bad = readdirSync(snaps).filter((name) => readFileSync(join(snaps, name)).includes(testVirus));
  t.same(bad, ['snap-003_4.snap']);
  for (const name of bad) rmSync(join(snaps, name));
  t.match(
    (await depot.larder(`transfer pack ${scan} ${join(stick, 'again.tar')}`)).err,
    /snap\/snap-003_4\.snap is missing/,
  );

  const received = await receiver.larder(`transfer receive ${scan}`);
  t.equal(received.code, 1);
  t.match(received.out, /Without snap\/snap-003_4\.snap: 'larder transfer preview/);
  t.match(await receiver.json(`transfer preview ${id}`), {
    problems: [
      { package: 'snap/snap-003', what: 'revision 4', why: 'Its content is neither in the transfer nor here.' },
    ],
  });
  t.match((await receiver.larder(`transfer accept ${id} --yes`)).err, /--without snap\/snap-003/);
  const receipt = await receiver.done(`transfer accept ${id} --yes --without snap/snap-003`);
  t.same(receipt['left-out'], [
    {
      package: 'snap/snap-003',
      what: 'snap/snap-003',
      why: 'The administrator left it out. The content of revision 4 did not arrive.',
    },
  ]);
  const { packages } = (await receiver.json('package list')) as { packages: { name: string }[] };
  t.same(
    packages.map(({ name }) => name).sort(),
    names.filter((name) => name !== 'snap-003'),
  );
});

t.test('content that was removed by mistake comes later, and then the whole transfer is accepted', async (t) => {
  const { depot, here: receiver, carry, stick } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await carry(offered('other-on', 3));
  const { id } = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
  const scan = join(stick, 'scan');
  await depot.done(`transfer unpack ${join(stick, 'in.tar')} ${scan}`);
  rmSync(join(scan, 'snap/hello-on_12.snap'));
  t.match(await receiver.json(`transfer receive ${scan}`), { lacking: [1], 'taken-out': ['snap/hello-on_12.snap'] });
  t.equal((await receiver.json(`transfer preview ${id}`)).problems.length, 1);
  t.match(await receiver.done(`transfer receive ${join(stick, 'in.tar')}`), { lacking: [], 'taken-out': [] });
  t.match(await receiver.done(`transfer preview ${id}`), { problems: [] });
  t.match(await receiver.done(`transfer accept ${id} --yes`), { 'left-out': [] });
});
