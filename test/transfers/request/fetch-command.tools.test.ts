// 'transfer fetch' at a collector: from the request of a site to the transfer that answers it, in one command.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { fetchTools as skip, oldStore } from '#test/transfers/old-store.ts';
import { site } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

t.test('one command fetches what a request asks for, and the site accepts the transfer', { skip }, async (t) => {
  const { store, password } = await oldStore(t);
  const receiver = await site(t, 'site-a');
  const [stick, home] = [folder(t), folder(t)];
  const env = { XDG_DATA_HOME: home, LARDER_DATA: receiver.data };
  const desk = (line: string) => larder(line, { env });
  t.match(await desk('site init desk --collector'), { code: 0 });
  const collector = join(home, 'larder-collector');
  const { fingerprints } = JSON.parse((await larder(`site show --json --data ${collector}`)).out).site;
  await receiver.done(`site trust ${join(collector, 'collector.json')} --fingerprint ${fingerprints[0]}`);
  await receiver.done('subscription add snap/hello-on charm/hello --architecture amd64');
  const request = join(stick, 'request.tar');
  await receiver.done(`transfer request ${request} --yes`);

  const from = `--store ${store.url} --charmhub ${store.url}`;
  t.match(await desk(`transfer fetch ${request} ${join(stick, 'in.tar')} --store file:///etc`), {
    code: 2,
    err: /is not the address of a store/,
  });
  const gone = await desk(
    `transfer fetch ${request} ${join(stick, 'in.tar')} --store http://127.0.0.1:1 --charmhub http://127.0.0.1:1`,
  );
  t.match(gone, {
    code: 1,
    err: /not everything could be fetched: .*Run the command again to resume, or add --even-so/,
  });
  t.notOk(existsSync(join(stick, 'in.tar')));

  const [, line = ''] =
    /^larder (transfer fetch \S+ \S+)$/m.exec(examplesIn('transfers', 'A round', 3).flat().join('\n')) ?? [];
  const asInGuide = line
    .replace('/media/stick/round-request.tar', request)
    .replace('/media/stick/round.tar', join(stick, 'in.tar'));
  const made = await desk(`${asInGuide} ${from} --json`);
  t.match(made, { code: 0 }, made.err);
  const { id, folder: fetched } = JSON.parse(made.out);
  t.equal(fetched, join(collector, 'fetched', 'site-a-1'));
  const received = await receiver.done(`transfer receive ${join(stick, 'in.tar')} --preview`);
  t.match(received, { id, lacking: [], preview: { source: 'desk', problems: [] } });
  t.notMatch(JSON.stringify(received.preview['left-out']), /\.fetched-/, "the script's mark is not in the preview");
  await receiver.done(`transfer accept ${id} --yes --receipt ${join(stick, 'receipt.json')}`);
  t.match(await receiver.done('package list'), { packages: [{ name: 'hello' }, { name: 'hello-on' }] });
  t.notOk(readFileSync(join(stick, 'in.tar')).includes(password), 'no credential of the store leaves the desk');
  t.match(await desk(`transfer fetch ${request} ${join(stick, 'in.tar')} ${from}`), {
    code: 1,
    err: /is there already/,
  });
});

t.test('a package that cannot be fetched is left out only on request', { skip }, async (t) => {
  const { store } = await oldStore(t);
  const receiver = await site(t, 'site-a');
  const [stick, collector] = [folder(t), join(folder(t), 'collector')];
  const desk = (line: string) => larder(`${line} --data ${collector}`);
  await desk('site init desk --collector');
  await receiver.done('subscription add snap/hello-on snap/nothing --architecture amd64');
  const request = join(stick, 'request.tar');
  await receiver.done(`transfer request ${request} --yes`);
  const fetch = `transfer fetch ${request} ${join(stick, 'in.tar')} --store ${store.url} --charmhub ${store.url}`;
  t.match(await desk(fetch), { code: 1, err: /not everything could be fetched/ });
  t.notOk(existsSync(join(stick, 'in.tar')));
  const made = await desk(`${fetch} --even-so`);
  t.match(made, {
    code: 1,
    out: /snap\/nothing: It was requested, but it is not in the folder[^]*could not be fetched/,
  });
  t.equal(made.out.match(/snap\/nothing: It was requested/g)?.length, 1, 'it is listed once');
  t.ok(existsSync(join(stick, 'in.tar')));
});
