// A transfer is lost on the way: the site is told how to continue, and its content comes later.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { download } from '#test/fixtures/packages/online-store.ts';
import { offered, site, trust, twoSites } from './sites.ts';

t.setTimeout(600_000);

async function lostOnTheWay(t: Parameters<typeof twoSites>[0]) {
  const sites = await twoSites(t);
  const { depot, here: receiver, stick, carry } = sites;
  const make = async (name: string, more = '') => {
    const part = join(stick, `${name}.tar`);
    return { part, id: ((await depot.done(`transfer make ${part} --for site-a ${more}`)) as { id: string }).id };
  };
  const accept = async ({ part, id }: { part: string; id: string }) => {
    await receiver.done(`transfer receive ${part}`);
    return receiver.done(`transfer accept ${id} --yes`);
  };
  await carry(offered('hello-on', 1));
  await accept(await make('one'));
  await carry(offered('other-on', 1));
  await make('two', '--since-sent');
  await carry(offered('hello-on', 2));
  const three = await make('three', '--since-sent');
  const names = async () =>
    ((await receiver.json('package list')) as { packages: { name: string }[] }).packages.map(({ name }) => name).sort();
  return { ...sites, make, accept, three, names };
}

t.test(
  'the preview names the lost transfer and the remedy, and the same one made again is accepted before it',
  async (t) => {
    const { depot, here: receiver, stick, accept, three, names } = await lostOnTheWay(t);
    await receiver.done(`transfer receive ${three.part}`);
    const { out } = await receiver.larder(`transfer preview ${three.id}`);
    t.match(
      out.replaceAll(/\s+/g, ' '),
      /number 2 was not accepted here\. If one was lost, ask 'depot' to run 'larder transfer make FILE --again 2'/,
    );
    const again = join(stick, 'two-again.tar');
    const { id } = (await depot.done(`transfer make ${again} --again 2`)) as { id: string };
    await accept({ part: again, id });
    t.notMatch((await receiver.larder(`transfer preview ${three.id}`)).out, /was lost/);
    await accept(three);
    t.same(await names(), ['hello-on', 'other-on']);
  },
);

t.test(
  'lost content is sent again once its maker has noted the loss, even if the site has accepted a later transfer',
  async (t) => {
    const { depot, make, accept, three, names } = await lostOnTheWay(t);
    await accept(three);
    await accept(await make('four', '--since-sent'));
    t.same(await names(), ['hello-on'], 'without that it is left out for ever');
    t.match(await depot.larder('transfer lost 9'), { code: 1, err: /no transfer number 9 was made here/ });
    t.match(await depot.larder('transfer lost two'), { code: 2 });
    t.match(await depot.done('transfer lost 2'), { sequence: 2, packages: 1 });
    t.match(await depot.done('transfer lost 2'), { contents: 0, packages: 0 }, 'the same again changes nothing');
    await accept(await make('five', '--since-sent'));
    t.same(await names(), ['hello-on', 'other-on']);
    const { entries } = (await depot.done('audit list')) as { entries: { action: string }[] };
    t.equal(entries.filter(({ action }) => action === 'record_lost_transfer').length, 1);
  },
);

t.test('a transfer that lacks content because an earlier one was lost is refused with the way out', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const make = async (name: string, more: string) => {
    const part = join(stick, `${name}.tar`);
    return {
      part,
      id: ((await depot.done(`transfer make ${part} --for site-a --since-sent ${more}`)) as { id: string }).id,
    };
  };
  await carry(offered('hello-on', 1), 'edge');
  await make('lost', '');
  await depot.done('release snap/hello-on 1 stable');
  const { part, id } = await make('next', '');
  await receiver.done(`transfer receive ${part}`);
  t.match(await receiver.larder(`transfer accept ${id} --yes`), {
    code: 1,
    err: /If an earlier transfer of its source was lost, the preview names/,
  });
  t.match(
    (await receiver.larder(`transfer preview ${id}`)).out.replaceAll(/\s+/g, ' '),
    /number 1 was not accepted here/,
  );
});

t.test('a collector sends lost content again, also with a store on the same host', async (t) => {
  const receiver = await site(t, 'site-a');
  const [home, fetched, stick] = [folder(t), folder(t), folder(t)];
  await download(fetched, offered('hello-on', 12));
  const env = { LARDER_DATA: receiver.data, HOME: home, XDG_DATA_HOME: home };
  const desk = async (line: string) => {
    const { code, out, err } = await larder(`${line} --json`, { env });
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  };
  t.match(await desk('site init desk --collector'), { folder: join(home, 'larder-collector') });
  const gather = (name: string) =>
    desk(`transfer gather ${fetched} ${join(stick, name)} --release stable --for site-a --since-sent`);
  t.match(await gather('one.tar'), { carried: 2, contents: 2 });
  t.match(await gather('two.tar'), { carried: 0 });
  const collector = join(home, 'larder-collector');
  t.match(await larder(`transfer lost 1 --data ${collector}`), { code: 0 });
  t.match(await larder(`transfer lost 7 --data ${collector}`), {
    code: 1,
    err: /No transfer number 7 was made by this collector/,
  });
  t.match(await gather('three.tar'), { carried: 2 });
  t.ok(readFileSync(join(collector, 'collector.json'), 'utf8').includes('"desk"'));
  await trust(
    receiver,
    { ...receiver, done: async (line: string) => JSON.parse((await larder(`${line} --json --data ${collector}`)).out) },
    join(stick, 'desk.json'),
  );
});
