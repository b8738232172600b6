// A transfer for a request: the requested packages with their prerequisites, without existing ones; and lost content is
// requested again.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { openStore } from '#data/store.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { assertionsOf } from '#test/fixtures/packages/online-store.ts';
import { snapPath } from '#test/review/fixtures.ts';
import { readRequest } from '#transfers/request/request-file.ts';
import { offered, site, twoSites, trust, type SiteUnderTest } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

/** Takes snapd itself in at a depot, as its online store publishes it. */
async function carrySnapd(depot: SiteUnderTest, stick: string): Promise<void> {
  const folder = join(stick, 'snapd');
  mkdirSync(folder);
  const file = readFileSync(snapPath('snapd'));
  const snap = { ...offered('snapd-on', 7), name: 'snapd' };
  writeFileSync(join(folder, 'snapd_7.snap'), file);
  writeFileSync(join(folder, 'snapd_7.assert'), stream(await assertionsOf(snap, file)));
  await depot.done(`package import ${folder} --release stable --yes`);
}

t.test('a site gets the requested packages with their prerequisites, and the next time only new ones', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await carry(offered('other-on', 3), 'edge');
  await carry(offered('never-on', 5));
  await carrySnapd(depot, stick);
  await receiver.done('subscription add snap/hello-on --channel candidate --architecture amd64');
  await receiver.done('subscription add snap/nothing --architecture amd64');
  const request = await receiver.done(`transfer request ${join(stick, 'r1.tar')} --yes`);
  const made = await depot.done(`transfer make ${join(stick, 't1.tar')} --request ${request.file}`);
  t.match(made, {
    packages: 2,
    request: { id: request.id, site: 'site-a', number: 1, 'is-known': false, receipts: 0 },
  });
  await receiver.done(`transfer receive ${join(stick, 't1.tar')}`);
  const seen = await receiver.done(`transfer preview ${made.id}`);
  t.match(
    seen.lines.flatMap(({ kind, package: of, to }: Record<string, string>) =>
      kind === 'release' ? `${of} ${to}` : [],
    ),
    ['snap/hello-on 12', 'snap/snapd 7'],
    'candidate holds what stable does; snapd, which it needs, came along; the base is not at the depot',
  );
  t.match(seen.needed, [{ kind: 'base', name: 'core22', architecture: 'amd64', 'needed-by': ['hello-on'] }]);
  t.match(seen['left-out'], [{ what: 'snap/nothing', why: /requested, but there is no public package/ }]);
  await receiver.done(`transfer accept ${made.id} --yes`);

  await carry(offered('hello-on', 13));
  const two = await receiver.done(`transfer request ${join(stick, 'r2.tar')} --yes`);
  const later = await depot.done(`transfer make ${join(stick, 't2.tar')} --request ${two.file}`);
  t.match(later.request, { number: 2, receipts: 1 }, 'its receipt was taken note of');
  t.equal(later.packages, 1, 'snapd is there');
  const { records, close } = await openStore({ directory: depot.data });
  t.teardown(close);
  t.match(await records.requests.receiptsOf('site-a', 10), [{ transfer: made.id, status: 'accepted' }]);
  const again = await depot.done(`transfer make ${join(stick, 't3.tar')} --request ${two.file}`);
  t.match(again.request, { receipts: 0 }, 'which it is once');
  const { transfers } = await receiver.done(`transfer check ${join(stick, 't2.tar')}`);
  t.match(transfers, [{ packages: [{ name: 'snap/hello-on', revisions: [{ revision: 13 }] }] }]);
});

largeTest('content that was left out because it was there, and is deleted since, is requested again', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await receiver.done('subscription add snap/hello-on --channel stable,edge --architecture amd64');
  /** Makes a request and a transfer for it, and receives it. */
  const round = async (number: number) => {
    const request = await receiver.done(`transfer request ${join(stick, `r${String(number)}.tar`)} --yes`);
    const file = join(stick, `t${String(number)}.tar`);
    const made = await depot.done(`transfer make ${file} --request ${request.file}`);
    const { statement } = await readRequest(request.file as string);
    return { made, file, statement };
  };
  for (const number of [1, 2]) {
    await carry(offered('hello-on', 11 + number));
    const { made, file } = await round(number);
    await receiver.done(`transfer receive ${file}`);
    await receiver.done(`transfer accept ${made.id} --yes`);
  }
  await depot.done('release snap/hello-on 12 edge');
  const third = await round(3);
  t.equal(third.made.carried, 1, 'the assertions alone; both revisions are there');
  await receiver.done('revision delete snap/hello-on --keep 1 --yes');
  await receiver.done(`transfer receive ${third.file}`);
  const [content] = (await receiver.json(`transfer preview ${third.made.id}`)).missing;
  const fourth = await round(4);
  t.match(fourth.statement.lost, [{ package: 'snap/hello-on', content }]);
  await receiver.done(`transfer receive ${fourth.file}`);
  t.match(await receiver.done(`transfer accept ${fourth.made.id} --yes`), {
    lines: [{ what: 'revision 12' }, { to: '12' }],
  });
});

largeTest('a receipt rides in each request until its source has met one, so that a request may be lost', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await receiver.done('subscription add snap/hello-on --channel stable --architecture amd64');
  const ask = async (number: number) => {
    const request = await receiver.done(`transfer request ${join(stick, `r${String(number)}.tar`)} --yes`);
    const { receipts } = (await readRequest(request.file as string)).statement;
    return { file: request.file as string, told: receipts.map(({ sequence }) => sequence) };
  };
  const receive = async (number: number, how: string) => {
    await carry(offered('hello-on', 11 + number));
    const file = join(stick, `t${String(number)}.tar`);
    const made = await depot.done(`transfer make ${file} ${how}`);
    await receiver.done(`transfer receive ${file}`);
    return made.id as string;
  };
  await receiver.done(`transfer accept ${await receive(1, '--since-sent --for site-a')} --yes`);
  t.same((await ask(1)).told, [1]);
  const second = await ask(2);
  t.same(second.told, [1], 'the first one may have been lost');
  await receiver.done(`transfer accept ${await receive(2, '--since-sent --for site-a')} --yes`);
  const third = await ask(3);
  t.same(third.told, [1, 2]);
  // The response to the second request shows that its source knows of the first transfer, and not of the second.
  await receive(3, `--request ${second.file}`);
  t.same((await ask(4)).told, [2]);
  await receiver.done(`transfer accept ${await receive(4, `--request ${third.file}`)} --yes`);
  t.same((await ask(5)).told, [4], 'what was let in since is told');
});

t.test('a request that others signed in the name of a known site is refused', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await trust(depot, receiver, join(stick, 'site-a.json'));
  await receiver.done('subscription add snap/hello-on --architecture amd64');
  const request = await receiver.done(`transfer request ${join(stick, 'r1.tar')} --yes`);
  t.match(await depot.done(`transfer make ${join(stick, 't1.tar')} --request ${request.file}`), {
    request: { 'is-known': true },
  });
  const { statement } = await readRequest(request.file as string);
  t.equal(statement.site, 'site-a');
  t.match(
    (await depot.larder(`transfer make ${join(stick, 't2.tar')} --request ${join(stick, 'site-a.json')}`)).err,
    /cannot be read as a request/,
  );
  t.match(
    (await depot.larder(`transfer make ${join(stick, 't2.tar')} --request ${request.file} --for site-b`)).err,
    /leave out --for/,
  );
  // Another site uses the same name.
  const other = await site(t, 'site-a');
  await other.done('subscription add snap/hello-on --architecture amd64');
  const strange = await other.done(`transfer request ${join(stick, 'r2.tar')} --yes`);
  const refused = await depot.larder(`transfer make ${join(stick, 't2.tar')} --request ${strange.file}`);
  t.match(refused.err, /no trusted key of 'site-a' has signed it/);
});
