// Labels: packages of one site reach another if its label allows it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { mayReceive } from '#domain/sites/site-label.ts';
import { changeConfig } from '#configuration/config.ts';
import type { SiteUnderTest } from '#test/transfers/sites.ts';
import { offered, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

const levels = ['open', 'restricted', 'secret'];

const labelled = ({ data }: SiteUnderTest, label: string, knownLevels = levels): void => {
  changeConfig(join(data, 'larder.toml'), { 'site.label': label, 'site.levels': knownLevels });
};

const readPayload = (file: string): Record<string, unknown> => {
  const { payload } = JSON.parse(readFileSync(file, 'utf8')) as { payload: string };
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as Record<string, unknown>;
};

t.test('a labelled package reaches a site with a label as high, and shows its label everywhere', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await depot.done(`transfer make ${join(stick, 'bare.tar')}`);
  labelled(depot, 'restricted');
  const { id } = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
  t.match((await depot.larder(`transfer check ${join(stick, 'in.tar')}`)).out, /^It has the label restricted\.$/m);
  t.match(await depot.done(`transfer check ${join(stick, 'bare.tar')}`), { transfers: [{ label: null }] });
  const receive = () => receiver.larder(`transfer receive ${join(stick, 'in.tar')}`);

  t.match(await receive(), {
    code: 1,
    err: /label 'restricted', which this site does not know\. Add it to 'site\.levels'/,
  });
  labelled(receiver, 'secret', ['open', 'secret']);
  t.match(await receive(), { code: 1, err: /label 'restricted', which this site does not know/ });
  changeConfig(join(receiver.data, 'larder.toml'), { 'site.levels': levels, 'site.label': 'open' });
  t.match(await receive(), { code: 1, err: /label 'restricted', which is higher than the label of this site, 'open'/ });
  t.same((await receiver.done('transfer list')).transfers, [], 'nothing of it is here');

  const bare = await receiver.done(`transfer receive ${join(stick, 'bare.tar')}`);
  t.match((await receiver.larder(`transfer preview ${bare.id}`)).out, /^It has no label\.$/m, 'what has none comes');
  t.match(await receiver.done(`transfer preview ${bare.id}`), { label: null });

  labelled(receiver, 'restricted');
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  t.match(await receiver.done(`transfer preview ${id}`), { label: 'restricted' });
  t.match((await receiver.larder(`transfer preview ${id}`)).out, /^It has the label restricted\.$/m);
  labelled(receiver, 'open');
  t.match(await receiver.larder(`transfer accept ${id} --yes`), {
    code: 1,
    err: /higher than the label of this site, 'open'/,
  });
  labelled(receiver, 'secret');
  t.match(await receiver.done(`transfer accept ${id} --yes`), { label: 'restricted' });

  await receiver.done(`transfer receipt ${id} ${join(stick, 'receipt.json')}`);
  await receiver.done(`transfer receipt ${id} ${join(stick, 'receipt.html')} --html`);
  t.match(readPayload(join(stick, 'receipt.json')), { label: 'restricted' });
  t.match(readFileSync(join(stick, 'receipt.html'), 'utf8'), /It had the label restricted\./);
  const report = `audit report --from 2026-01-01 --moved ${join(stick, 'moved.csv')} --html ${join(stick, 'report.html')}`;
  t.match(await receiver.done(report), { arrivals: [{ label: 'restricted' }] });
  t.match(readFileSync(join(stick, 'moved.csv'), 'utf8'), /^"in",.*,"","restricted",/m);
  t.match(readFileSync(join(stick, 'report.html'), 'utf8'), /<td>restricted<\/td>/);
  t.match((await depot.done('audit report --from 2026-01-01')).exports, [{ label: 'restricted' }, { label: null }]);
});

t.test('a request states the label of its site, and nothing is made for a site with a lower one', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  labelled(depot, 'restricted');
  await receiver.done('subscription add snap/hello-on --architecture amd64');
  const ask = async (name: string): Promise<string> => {
    await receiver.done(`transfer request ${join(stick, name)} --yes`);
    return `transfer make ${join(stick, `for-${name}`)} --request ${join(stick, name)}`;
  };
  t.match(await depot.larder(await ask('none.tar')), {
    code: 1,
    err: /have the label 'restricted', and the label of 'site-a' is none, which is lower/,
  });
  labelled(receiver, 'open');
  t.match((await receiver.larder('transfer request x.tar --dry-run')).out, /^The label of site-a is open\.$/m);
  t.match(await depot.larder(await ask('open.tar')), { code: 1, err: /the label of 'site-a' is 'open'/ });
  t.match((await receiver.done('audit report --from 2026-01-01')).exports, [{ label: 'open' }, { label: null }]);
  labelled(receiver, 'secret');
  await depot.done(await ask('secret.tar'));
  await receiver.done(`transfer receive ${join(stick, 'for-secret.tar')}`);
});

t.test('nothing comes to a site that does not know its label, or has one below', async () => {
  const some = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
  fc.assert(
    fc.property(some, fc.nat(), fc.constantFrom('a', 'b', 'c', 'd', 'e'), (knownLevels, at, label) => {
      const own = knownLevels[at % knownLevels.length]!;
      const comes = mayReceive(label, { label: own, levels: knownLevels });
      const isBelow = knownLevels.slice(0, (at % knownLevels.length) + 1).includes(label);
      return (
        comes === isBelow &&
        mayReceive(undefined, { levels: knownLevels }) &&
        !mayReceive(label, { levels: knownLevels })
      );
    }),
  );
});
