// The requests of a site: subscriptions, the exported file, and the facts that it leaves out.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { account, storeKey } from '#test/assertions/world.ts';
import { stream } from '#assertions/format/assertion.ts';
import { modelOf } from '#test/operations/devices/world.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { readRequest, requestIn } from '#transfers/request/request-file.ts';
import { offered, site, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

/** The script has the same text in every release, so comparing it once is enough. */
const script = 'aa175eb9b0ccfc4a010420f9bacfb50fe1602284ef0fa633998cef46c9276279';

t.test('an empty store requests the content of a set, a bundle and a model, and the table has it', async (t) => {
  const [receiver, stick] = [await site(t, 'site-a'), folder(t)];
  await receiver.done('subscription add --set juju --architecture amd64');
  writeFileSync(
    join(stick, 'bundle.yaml'),
    'applications:\n  db:\n    charm: postgresql-k8s\n    channel: 14/stable\n  web:\n    charm: ch:hello\n  own:\n    charm: ./own.charm\n',
  );
  await receiver.done(`subscription add --bundle ${stick}/bundle.yaml --architecture arm64`);
  const model = await modelOf({
    architecture: 'arm64',
    base: 'core24',
    gadget: 'pi=24',
    kernel: 'pi-kernel=24',
    'required-snaps': ['hello'],
  });
  writeFileSync(join(stick, 'gate.model'), stream([storeKey, await account('acme'), model]));
  await receiver.done(`subscription add --model ${stick}/gate.model`);
  t.match((await receiver.larder('subscription add snap/core22 --architecture amd64')).out, /subscribed to already/);
  const { subscriptions } = await receiver.done('subscription list');
  t.match(
    subscriptions.find(({ name }: { name: string }) => name === 'postgresql-k8s'),
    { channels: ['14/stable'], architectures: ['arm64'], because: 'bundle' },
  );
  const names = subscriptions.map(
    (subscription: { namespace: string; name: string }) => `${subscription.namespace}/${subscription.name}`,
  );
  for (const name of ['charm/juju-controller', 'charm/hello', 'snap/juju-db', 'snap/pi-kernel', 'snap/core24'])
    t.ok(names.includes(name), name);
  await receiver.done('subscription remove snap/lxd');
  t.match((await receiver.larder('subscription remove snap/lxd')).err, /There is no subscription to snap\/lxd/);

  const shown = await receiver.larder(`transfer request ${stick} --dry-run`);
  t.match(shown.out, /snap\/juju-db 4\.4\/stable \(amd64\)/);
  t.match((await receiver.larder(`transfer request ${stick}`)).err, /there is no terminal; add --yes to confirm/);
  t.notOk(existsSync(join(stick, 'site-a-request-1.tar')));
  const request = await receiver.done(`transfer request ${stick} --yes`);
  t.match(request, { number: 1, file: join(stick, 'site-a-request-1.tar'), script });
  const { statement, files, signers, id } = await readRequest(request.file as string);
  t.equal(id, request.id);
  t.same(signers, statement.keys);
  t.match(statement, { site: 'site-a', number: 1, inventory: { kind: 'imported', contents: [] }, receipts: [] });
  const table = files['wishes.tsv'].toString();
  t.match(table, /^request\tsite-a\t1\t-\n/);
  t.match(table, /\ncharm\tpostgresql-k8s\t14\/stable\tarm64\n/);
  t.match(table, /\nsnap\tpi-kernel\t24\/stable\tarm64\n/);
  t.notMatch(table, /\tlxd\t/);
  t.equal(createHash('sha256').update(files['fetch.sh']).digest('hex'), script);
  t.match(files['request.html'].toString(), /<h1>Request 1 of site-a<\/h1>/);
  const listed = execFileSync('tar', ['-tf', request.file as string], { encoding: 'utf8' });
  t.match(listed, /^larder-request\/request\.json\nlarder-request\/signatures\.json\n/, 'tar can look into it');
  t.match(await receiver.done(`transfer request ${join(stick, 'again.tar')} --yes`), { number: 2 });
});

t.test('a package that does not fit into the table is named, and a changed request is invalid', async (t) => {
  const [receiver, stick] = [await site(t, 'site-a'), folder(t)];
  await receiver.done('subscription add rock/web snap/a.b snap/hello --channel edge/fix --architecture amd64');
  const request = await receiver.done(`transfer request ${stick} --yes`);
  t.match(
    request['not-told'].map(({ what: object }: { what: string }) => object),
    ['rock/web', 'snap/a.b', 'snap/hello latest/edge/fix'],
  );
  const bytes = readFileSync(request.file as string);
  t.ok(requestIn(bytes));
  for (const text of ['"site":"site-a"', 'set -u', 'request\tsite-a', '<h1>', '"payloadType"']) {
    const changed = Buffer.from(bytes);
    const at = changed.indexOf(text) + 3;
    changed[at] = changed[at]! ^ 1;
    t.throws(() => requestIn(changed), NotATransfer, text);
  }
  t.throws(() => requestIn(bytes.subarray(0, bytes.length - 600)), NotATransfer, 'cut off');
  t.throws(() => requestIn(Buffer.concat([bytes, Buffer.alloc(512)])), NotATransfer, 'longer');
});

t.test('a request reports content from other sites, and content of the site itself only on demand', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await depot.done(`transfer make ${join(stick, 'one.tar')}`);
  const { id } = await receiver.done(`transfer receive ${join(stick, 'one.tar')}`);
  await receiver.done(`transfer accept ${id} --yes`);
  const request = await receiver.done(`transfer request ${join(stick, 'r1.tar')} --yes`);
  const { statement } = await readRequest(request.file as string);
  t.equal(statement.inventory.contents.length, 1);
  t.match(statement.receipts, [{ transfer: id, source: 'depot', sequence: 1, status: 'accepted', changes: 4 }]);
  t.notOk('by' in statement.receipts[0]!, 'no people');
  t.match(statement.missing, [
    { kind: 'base', name: 'core22', 'needed-by': ['hello-on'] },
    { kind: 'snapd', name: 'snapd' },
  ]);
  t.match(
    (await readRequest(request.file as string)).files['wishes.tsv'].toString(),
    /\nsnap\tcore22\tlatest\/stable\tamd64\n/,
  );
  await receiver.done(`transfer withdraw ${id} --yes`);
  const two = await receiver.done(`transfer request ${join(stick, 'r2.tar')} --yes --inventory none --include-own`);
  const later = (await readRequest(two.file as string)).statement;
  t.same(later.inventory, { kind: 'none', contents: [] });
  t.match(later.receipts, [{ transfer: id, status: 'withdrawn', by: [/^cli:/] }], 'what was told is not told again');
});

t.test('if requests wait for approval, nothing is written before', async (t) => {
  const stick = folder(t);
  const { run, judge } = await askingSite(t, 'requests = "1 of B"');
  await run('site init site-b');
  const file = join(stick, 'out.tar');
  await run('subscription add snap/hello --architecture amd64');
  t.match(await run(`transfer request ${file} --yes`), { code: 1, err: /Waits for 1 more approval \(proposal 1/ });
  t.notOk(existsSync(file));
  t.match(await run('approval show 1'), { out: /request wishes: nothing → snap\/hello latest\/stable \(amd64\)/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  t.match(await run(`transfer request ${file} --yes`), { code: 0 });
  t.ok(existsSync(file));
  t.match(await run('audit report --from 2020-01-01 --json'), { out: /"what":"request"/ });
});

t.test('content that was accepted while a request was under approval is reported', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const { id } = (await depot.done(`transfer make ${join(stick, 'in.tar')}`)) as { id: string };
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  const out = folder(t);
  async function* typed() {
    // The request is shown, and asks whether all of it may leave.
    await receiver.done(`transfer accept ${id} --yes`);
    yield 'yes\n';
  }
  const env = { LARDER_DATA: receiver.data };
  const refused = await larder(`transfer request ${out}`, { env, terminal: true, typed: typed() });
  t.match(refused, {
    code: 1,
    err: /Continue\? \[y\/N\][^]*A transfer was accepted or withdrawn in the meantime, .* Make the request again/,
  });
  t.strictSame(readdirSync(out), [], 'nothing has left, under any name');
  const { exports } = (await receiver.done('audit report --from 2026-01-01')) as { exports: { what: string }[] };
  t.notOk(
    exports.some(({ what: kind }) => kind === 'request'),
    'nor does the list of what left say so',
  );
  t.match(
    await receiver.done(`transfer request ${out} --yes`),
    { number: 1, receipts: 1 },
    'and made again it tells of it',
  );
});
