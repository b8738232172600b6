// An unsigned folder is accepted only at a site with an approval policy for such folders, after the approvals.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { fetchedCharm, writeCharm } from '#test/fixtures/packages/fetched.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { serializeSignatures } from '#transfers/statement/signatures.ts';
import { example, seedOf, written } from '../statement/example.ts';

t.setTimeout(600_000);

/** A snap with its assertions, and a charm with the responses of the charm store. */
async function fetched(t: Test): Promise<string> {
  const path = folder(t);
  await download(path, offered('hello-on', 12));
  const { resources, ...wordpress } = fetchedCharm('wordpress', 34, '');
  const declares = 'resources:\n  site:\n    type: file\n    filename: site.tar\n';
  const file = charm('wordpress', { version: '1.34' }, declares);
  writeCharm(path, { ...wordpress, file, resources: resources.filter(({ name }) => name === 'site') });
  return path;
}

async function asking(t: Test, policy: string) {
  const site = await askingSite(t, policy);
  changeConfig(join(site.store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  await site.run('site init site-b');
  const done = async (line: string) => {
    const { code, out, err } = await site.run(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out);
  };
  return { ...site, done };
}

t.test('a folder is accepted without a signature, once the approvers have approved it', async (t) => {
  const { store, run, done, judge } = await asking(t, 'unsigned_folders = "1 of B"');
  const [from, stick] = [await fetched(t), folder(t)];
  const took = await run(`transfer receive --unsigned ${from} --release stable --media disc-3`);
  t.match(took, { code: 0, out: /number 1 of nobody, waits here\. It is not signed\./ });
  const received = await done(`transfer receive --unsigned ${from} --release stable`);
  t.match(received, { source: 'nobody', sequence: 1, 'signed-with': [], lacking: [] });
  const { id } = received;
  t.match((await done('transfer list')).transfers, [{ id, source: 'nobody', status: 'waiting' }], 'and it is one');
  t.equal((await done('transfer list')).transfers.length, 1, 'the same folder again goes on with what waits');
  t.notOk(existsSync(join(store.directory, 'transfers/unpacked')), 'what was unpacked is gone');

  const seen = await done(`transfer preview ${id}`);
  t.match(seen, { unsigned: true, signatures: [], problems: [] });
  const words = new Map<string, string>(
    seen.lines.map((line: { package: string; what: string; word: string }) => [
      `${line.package} ${line.what}`,
      line.word,
    ]),
  );
  t.same(Object.fromEntries([...words].filter(([, word]) => word !== 'nobody')), {
    'snap/hello-on revision 12': 'upstream',
    'snap/hello-on account maker': 'upstream',
  });
  for (const object of [
    'charm/wordpress revision 34',
    'charm/wordpress site revision 3',
    'snap/hello-on snap/hello-on',
  ])
    t.equal(words.get(object), 'nobody', object);
  t.match((await run(`transfer preview ${id}`)).out, /It is not signed: it can be accepted only with the approvals/);

  const accept = () => run(`transfer accept ${id} --yes --json`);
  t.match(await accept(), { code: 1, err: /Waits for 1 more approval \(proposal 1,/ });
  t.match(await run('approval show 1'), { out: /transfer 1 of nobody: nothing → let in, though nobody has signed it/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  const came = await accept();
  t.match(came, { code: 0 }, came.err);
  const receipt = { unsigned: true, source: 'nobody', signatures: [], media: ['disc-3'] };
  t.match(JSON.parse(came.out), { ...receipt, approvals: [{ accountId: store.ids.bob }] });
  await done(`transfer receipt ${id} ${join(stick, 'receipt.html')} --html`);
  t.match(readFileSync(join(stick, 'receipt.html'), 'utf8'), /It was not signed\./);
  t.match(await done('package show snap/hello-on'), { name: 'hello-on' });

  const again = await done(`transfer receive --unsigned ${from} --release stable`);
  t.match(again, { sequence: 2 }, 'once it is in, the folder is another transfer');
  t.same((await done(`transfer preview ${again.id}`)).lines, [], 'which changes nothing');
  await done(`transfer discard ${again.id}`);
  t.match(await run(`transfer withdraw ${id} --yes`), { code: 0 }, 'and what it released can be put back');
});

t.test('without a policy for such folders, it is refused', async (t) => {
  const { store, run, done, judge } = await asking(t, 'transfers = "1 of B"');
  const from = await fetched(t);
  const receive = () => run(`transfer receive --unsigned ${from} --release stable`);
  t.match(await receive(), {
    code: 1,
    err: /the policy names no approvers for it\. Set unsigned_folders = "2" in the section \[approvals\] of larder\.toml/,
  });
  t.same((await done('transfer list')).transfers, [], 'and nothing was taken in');
  const policy = `transfers = "1 of ${store.ids.bob}"\nunsigned_folders = "1 of ${store.ids['carol'] ?? ''}"`;
  await configure(store, policy);
  t.match(await receive(), { code: 0 });
  const [{ id }] = (await done('transfer list')).transfers;
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /\(proposal 1,.*bob, carol/ }, 'each rule holds');
  t.match(await judge('approve', 'carol', 1), { code: 0 });
  await configure(store, `transfers = "1 of ${store.ids.bob}"`);
  for (const who of ['carol', 'bob']) t.match(await judge('approve', who, 2), { code: 0 }, 'the policy is lowered');
  await configure(store, `transfers = "1 of ${store.ids.bob}"`);
  t.match(
    await run(`transfer accept ${id} --yes`),
    { code: 1, err: /the policy names no approvers/ },
    'and it waits for ever',
  );
});

t.test('a transfer without signatures is invalid, and no source has the name of an unsigned folder', async (t) => {
  const { run } = await asking(t, 'unsigned_folders = "1 of B"');
  const stick = folder(t);
  const bare = { ...example([Buffer.from('a')], { source: 'nobody' }), signatures: serializeSignatures([]) };
  const [part = ''] = await written(bare, stick);
  t.match(await run(`transfer receive ${part}`), { code: 1, err: /cannot be read as a transfer/ });
  const [signed = ''] = await written(example([Buffer.from('a')], { source: 'nobody' }), stick);
  t.match(await run(`transfer receive ${signed}`), { code: 1, err: /this site does not trust that source/ });
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'nobody.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'nobody', keys: [publicKey], threshold: 1 }));
  const { fingerprintOf } = await import('#transfers/site.ts');
  const trust = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`;
  t.match(await run(trust), { code: 1, err: /'nobody' stands for unsigned folders/ });
  mkdirSync(join(stick, 'empty'));
  t.match(await run(`transfer receive --unsigned ${join(stick, 'empty')}`), {
    code: 1,
    err: /No file in the folder can be part of a transfer/,
  });
  t.match(await run(`transfer receive ${signed} --release stable`), { code: 2, err: /--release needs --unsigned/ });
  t.match(await run(`transfer receive --unsigned ${signed} ${part}`), { code: 2, err: /takes one folder/ });
});
