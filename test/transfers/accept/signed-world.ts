// A site that has accepted a transfer which bob and carol approved with keys of their own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Test } from 'tap';

import { itself } from '#acts/act.ts';
import { addApproverKey } from '#acts/approvals/approver-keys.ts';
import { days } from '#domain/clock.ts';
import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { snapOf } from '#test/fixtures/packages/online-store.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { example, goodNow, helloWith, seedOf, written } from '#test/transfers/statement/example.ts';
import { offered } from '#test/transfers/sites.ts';

/** The receipt, the text that both signed, and their keys; a signature of other lines of the same transfer was refused. */
export async function signedTransfer(t: Test) {
  const { store, run, judge } = await askingSite(t, '');
  const home = folder(t);
  const { acts, records } = store.beside;
  const { publicKey } = seedOf(1);
  const identity = join(home, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await run('site init site-b');
  t.match(await run(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`), { code: 0 });
  const pairs = new Map(['bob', 'carol'].map((who) => [who, sshKeyPair(home, who)]));
  const at = new Date(Date.now() - days(4)).toISOString();
  for (const [who, pair] of pairs) {
    const id = store.ids[who] ?? '';
    await acts.do(addApproverKey, itself, { id, key: readSshKey(pair.publicKey)?.line ?? '' });
    const entry = { at, actor: 'test', action: 'test', object: who };
    await records.change(entry, (tx) => tx.accounts.touch(id, { at, by: 'larder', what: 'add_approver_key' }));
  }
  const { ids } = store;
  await configure(store, `transfers = "2 signed of ${ids.bob}, ${ids['carol'] ?? ''}"`);

  const file = snapOf(offered('hello-on', 1));
  const release = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64', revision: 1, 'released-at': at };
  const hello = { ...helloWith([file]), name: 'hello-on', channels: [release] };
  const transfer = example([file], { packages: [hello], ...goodNow() });
  const [part = ''] = await written(transfer, folder(t));
  const id = idOf(transfer.bytes);
  t.match(await run(`transfer receive ${part}`), { code: 0 });
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /Waits for 2 more .*\(proposal 1,.* sign/ });
  t.match(await run(`transfer accept ${id} --as-channel stable=edge --yes`), { code: 1, err: /\(proposal 2,/ });
  const text = join(home, 'proposal-1');
  t.match(await run(`approval show 1 --for-signing ${text}`), { code: 0 });
  t.match(readFileSync(text, 'utf8'), new RegExp(`\\non: "transfer/${id}"\\n`), 'which is the digest of its statement');
  await run(`approval show 2 --for-signing ${join(home, 'proposal-2')}`);
  const another = sshSigned(pairs.get('bob')!, join(home, 'proposal-2'));
  writeFileSync(join(home, 'another.sig'), another);
  const refused = await judge('approve', 'bob', 1, ` --signature ${join(home, 'another.sig')}`);
  t.match(refused, { code: 1, err: /signature does not match this proposal/ }, 'other lines of the same transfer');
  for (const [who, pair] of pairs) {
    writeFileSync(join(home, `${who}s.sig`), sshSigned(pair, text));
    const { code, err } = await judge('approve', who, 1, ` --signature ${join(home, `${who}s.sig`)}`);
    t.equal(code, 0, err);
  }
  t.match(await run(`transfer accept ${id} --yes`), { code: 0 });

  const receiptFolder = folder(t);
  t.match(await run(`transfer receipt ${id} ${join(receiptFolder, 'receipt.json')}`), { code: 0 });
  return { run, id, there: receiptFolder, text: readFileSync(text, 'utf8'), pairs };
}
