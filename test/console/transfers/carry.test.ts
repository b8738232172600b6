// Transfers: each is previewed, accepted, discarded and restored, in the console and over HTTP, once each.
import { join } from 'node:path';

import t from 'tap';

import { keyManagerOf } from '#cli/keys/find-keys.ts';
import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { subscribe } from '#acts/sites/subscriptions.ts';
import { noPolicy, readRule } from '#domain/approvals/approval-policy.ts';
import { days, hours, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { larder } from '#test/cli/world.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { parseReceipt } from '#transfers/accept/receipts.ts';
import { siteOf } from '#transfers/site.ts';
import { password } from '#test/identity/world.ts';
import { receiving } from './carrying.ts';
import { startConsole, type ConsoleStore } from '#test/console/world.ts';

t.setTimeout(600_000);

const carry = '/console/carry';

const counted = async (store: ConsoleStore, action: string): Promise<number> =>
  (await store.beside.records.audit.list(0, 10_000)).filter((row) => row.action === action).length;

t.test('an administrator sees the transfers, and the first step to take', async (t) => {
  const store = await startConsole(t, (text) => text.replace(/^# ?expected_days = .*$/m, 'expected_days = 30'));
  t.equal((await store.visitor().open(carry)).status, 401, 'nobody');
  const ada = await store.visit('ada');
  t.match(await ada.open(carry), { status: 403 }, 'a publisher');
  t.match(await ada.open(`${carry}/requests`), { status: 403 });
  await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'auditor', remove: false });
  const bob = await store.visit('bob');
  const empty = await bob.open(carry);
  t.match(empty.text, /No transfer waits for a decision, and nothing waits for the online store\./);
  t.match(
    empty.text,
    /larder transfer receive \/media\/stick .*larder site init NAME .*larder site show --export FILE/,
  );
  const wish = { namespace: 'snap', name: 'hello', channels: ['latest/stable'], architectures: ['amd64'] } as const;
  for (let number = 0; number < 51; number++) {
    const name = `hello-${String(number).padStart(2, '0')}`;
    await store.beside.acts.do(subscribe, itself, { subscriptions: [{ ...wish, name }], because: '<b>set</b>' });
  }
  const wishes = await bob.open(`${carry}/requests`);
  t.match(wishes.text, /snap\/hello-00 latest\/stable amd64 <b>set<\/b>/);
  t.notMatch(wishes.html, /<b>set/);
  t.notMatch(wishes.text, /hello-50/, 'fifty of them');
  const next = /href="([^"]+)" rel="next"/.exec(wishes.html)?.[1] ?? '';
  t.match((await bob.open(next)).text, /snap\/hello-50/);
  t.match((await bob.open(carry)).text, /has subscriptions to 51 packages/);
});

t.test('a transfer is previewed, accepted once, and its releases are rolled back once', async (t) => {
  const { store, bring } = await receiving(t);
  const id = await bring(12);
  const address = `${carry}/transfers/${id}`;
  const [root, other, ada] = [await store.visit('root'), await store.visit('root'), await store.visit('ada')];
  t.match(
    (await root.open(carry)).text,
    /1 transfer waits for a decision.*1 of desk waits.*desk 1 of 1: [0-9a-f-]{39}/,
  );
  const waits = await root.open('/console/waiting');
  t.match(waits.text, /One thing waits for you: 1 transfer\. .*Transfers to accept or discard .*1 of desk/);
  t.match(waits.html, `href="${address}"`);
  t.notMatch((await ada.open('/console/waiting')).text, /Transfers to accept/, 'a publisher');
  t.match((await root.open('/console')).text, /Pending 1 1 transfer/);
  const page = await root.open(address);
  t.match(page.text, /This transfer waits for a decision\. .* State waits From desk, number 1 Label none Signed by /);
  t.match(page.text, /Changes snap\/hello-on 4 changes .* revision 12 nothing/);
  t.match(page.text, /latest\/stable \(amd64\) nothing 12 .*Accept/);
  t.equal((await ada.open(address)).status, 403, 'a publisher');
  t.match(await root.open(`${carry}/transfers/ffffff`), { status: 404 });

  const [client, auditor] = [await store.as('root'), await store.as('bob')];
  await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'auditor', remove: false });
  const at = `/internal/v1/transfers/${id}`;
  t.match((await auditor.get('/internal/v1/transfers')).body.transfers, [{ id, source: 'desk', status: 'waiting' }]);
  const { body: preview } = await auditor.get(at);
  t.match(preview, { id, problems: [], lines: [{ package: 'snap/hello-on' }, {}, {}] });
  t.match(await auditor.post(`${at}/accept`, { seen: preview.digest }), { status: 401 }, 'who reads lets nothing in');
  t.match(await client.post(`${at}/accept`, { seen: 'f'.repeat(64) }), { status: 409 }, 'what nobody looked at');
  t.match(await root.send(page, `${address}/accept`, { seen: 'f'.repeat(64) }), {
    status: 409,
    text: /Look at the preview/,
  });

  const seen = await other.open(address);
  const pages = await Promise.all([root.send(page, `${address}/accept`), other.send(seen, `${address}/accept`)]);
  for (const { text } of pages) t.match(text, /The transfer is accepted\..*Its receipt is below/);
  t.equal(await counted(store, 'accept_transfer'), 1, 'one act');
  t.match(await client.post(`${at}/accept`, { seen: preview.digest }), { body: { status: 'accepted', 'left-out': 0 } });
  t.equal(await counted(store, 'accept_transfer'), 1);
  const receipt = await root.open(address);
  t.match(receipt.text, /snap\/hello-on .*Trusted sources at that time .*desk: 1 of the keys.*here accepted it at/);
  const printed = await root.open(`${address}/receipt`);
  t.match(
    printed.text,
    new RegExp(`Receipt of transfer 1 of desk From desk Number 1 Accepted .* by root Id ${id} The key of here has`),
  );
  t.match(
    printed.text,
    /The audit log of here ended with entry .* 4 changes of 1 package snap\/hello-on: 4 changes Name Date Signature/,
  );
  t.match(printed.html, /<svg[^>]*class="qr"/);
  t.equal((await ada.open(`${address}/receipt`)).status, 403, 'a publisher');
  const signed = await root.send(printed, `${address}/receipt`);
  t.match(signed.headers.get('content-disposition'), /^attachment; filename="receipt-[0-9a-f]{12}\.json"$/);
  const { keys } = (await store.beside.records.transferSources.find('desk'))!;
  t.equal(parseReceipt(signed.html, keys), undefined, 'the source has not signed it');
  const manager = keyManagerOf(store.beside, { env: {} });
  const site = (await siteOf(store.beside.records, { siteKey: store.beside.siteKey, manager }))!;
  t.same(parseReceipt(signed.html, [site.key.publicKey]), { source: 'desk', sequence: 1 });
  t.equal(await counted(store, 'export_receipt'), 1);
  t.equal((await client.get('/internal/v1/packages/snap/hello-on')).status, 200);

  t.match(await root.send(receipt, `${address}/withdraw`), { status: 400 }, 'not by one press alone');
  const back = await Promise.all(
    [root, root].map((visitor) => visitor.send(receipt, `${address}/withdraw`, { sure: 'yes' })),
  );
  t.equal(back.filter(({ text }) => /have their previous revisions again/.test(text)).length, 1);
  t.equal(back.filter(({ status }) => status === 409).length, 1);
  t.match(await client.post(`${at}/withdraw`), { status: 409 });
  t.equal(await counted(store, 'withdraw_transfer'), 1);
});

t.test('an export to the online store is shown with the command to run', async (t) => {
  const store = await startConsole(t);
  const brand = await addBrand(store, 'ada');
  await addSigningKey(store, brand, 'rsa4096-a', 'models');
  const [at, stick] = [store.clock.now.toISOString(), t.testdir()];
  let times = 0;
  const type = (line: string) =>
    larder(`${line.replace('./to-the-internet', join(stick, String(times++)))} --data ${store.directory}`);
  const outcome = await type(`key request models --brand ${brand} --folder ./to-the-internet`);
  t.equal(outcome.code, 0, outcome.err);
  const { id } = (await (await store.as('ada')).post('/v1/snap', { name: 'hello' })).body as { id: string };
  const packageYaml = 'name: hello\nversion: "1"\nprovenance: my-site\n';
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: id }, (tx) =>
    filler(tx, at).revision({ packageId: id, revision: 1, createdBy: store.ids.ada, packageYaml }),
  );
  const page = await (await store.visit('root')).open(carry);
  t.match(page.text, /2 things to take to the online store/);
  t.match(page.text, /Keys to register .* models/);
  t.match(page.text, new RegExp(`Declarations to change .* hello ${id} my-site .*${brand}`));
  const [, line = ''] = /larder (key request [^<]+)/.exec(page.html) ?? [];
  t.equal((await type(line.trim())).code, 0, line);
});

t.test('a transfer is thrown away once', async (t) => {
  const { store, bring } = await receiving(t);
  const address = `${carry}/transfers/${await bring(12)}`;
  const root = await store.visit('root');
  const page = await root.open(address);
  const both = await Promise.all([1, 2].map(() => root.send(page, `${address}/discard`)));
  t.equal(both.filter(({ text }) => /The transfer is discarded/.test(text)).length, 1);
  t.equal(await counted(store, 'discard_transfer'), 1);
  t.match(await (await store.as('root')).post(`/internal/v1${address.slice('/console/carry'.length)}/discard`), {
    status: 409,
  });
  t.match((await root.open(carry)).text, /1 of desk discarded/);

  const client = await store.as('root');
  const at = `/internal/v1/transfers/${await bring(13)}`;
  const { digest } = (await client.get(at)).body as { digest: string };
  t.match((await client.post(`${at}/accept`, { seen: digest })).body, { status: 'accepted' });
  t.match((await client.post(`${at}/withdraw`)).body, { status: 'withdrawn', changes: 1 });
  const other = `/internal/v1/transfers/${await bring(14)}`;
  t.match((await client.post(`${other}/discard`)).body, { status: 'discarded' });
});

/** bob logs in with a one-time password, and approves the first proposal. */
async function approver(store: ConsoleStore) {
  await store.setPassword('bob');
  const secret = await store.setTotp('bob');
  const code = () => {
    store.clock.advance(seconds(60));
    return codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  };
  const bob = store.visitor();
  await bob.logIn('bob', { code: code() });
  const proposal = '/console/waiting/proposals/1';
  const approve = async () =>
    bob.send(await bob.open(proposal), `${proposal}/judge`, { verdict: 'approve', password, code: code() });
  return { bob, approve };
}

t.test('if the policy requires approvals, a transfer waits, and is accepted again afterwards', async (t) => {
  const { store, bring } = await receiving(t);
  const rule = readRule('1');
  await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'transfer-approver', remove: false });
  await store.beside.acts.do(changeApprovalPolicy, itself, {
    ...noPolicy,
    rules: { ...(rule && { transfers: rule }) },
  });
  const address = `${carry}/transfers/${await bring(12)}`;
  store.clock.advance(hours(73));
  const root = await store.visit('root');
  const waits = await root.send(await root.open(address), `${address}/accept`);
  t.match(
    waits.text,
    /The change is proposed and waits for the approvals below.*1: accept transfer root waits for 1 approval/,
  );
  const { bob, approve } = await approver(store);
  const seen = await bob.open(address);
  t.match(seen.text, /Approved 0 of 1 .* nobody yet bob/);
  t.notMatch(seen.text, /Accept/, 'who approves does not let in');
  const approved = await approve();
  t.match(approved.text, /It has enough approvals now/);
  const again = await store.visit('root');
  const shown = await again.open(address);
  t.match(shown.text, /Approved 1 of 1 .* accept transfer root approved bob/);
  t.match((await again.send(shown, `${address}/accept`)).text, /The transfer is accepted\..*Approved by .*\(bob/);
  store.clock.advance(days(1));
});

/** A transfer of two snaps. The second cannot be accepted, because ada has registered its name. */
async function blocked(t: Parameters<typeof receiving>[0]) {
  const { store, bring } = await receiving(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'taken-on' });
  const address = `${carry}/transfers/${await bring(12, ['hello-on', 'taken-on'])}`;
  return { store, address };
}

t.test('a transfer with a package that cannot be accepted is accepted without it, as previewed', async (t) => {
  const { store, address } = await blocked(t);
  const root = await store.visit('root');
  const page = await root.open(address);
  t.match(page.text, /snap\/taken-on: The name is registered here for ada/);
  t.match(page.text, /The transfer cannot be accepted as it is\./);
  t.match(page.text, /1 package cannot be accepted\. Leave it out to accept the rest, under "Changes" above\./);
  t.match(page.text, /snap\/taken-on cannot be accepted/);
  t.match(page.html, /name="without"\s+value="snap\/taken-on"\s+checked/, 'the package is ticked');
  t.match(page.html, /name="without"\s+value="snap\/hello-on"\s+\/>/, 'and the other one is not');
  t.throws(() => root.send(page, `${address}/accept`), /has no form/, 'no form accepts it yet');

  t.match(await root.open(`${address}?without=snap%2Ftaken-on&without=snap%2Fhello-on&without=`), {
    text: /All packages of this transfer are left out/,
  });
  const narrowed = await root.open(`${address}?without=snap%2Ftaken-on&without=`);
  t.match(
    narrowed.text,
    /snap\/taken-on: The administrator left it out\..*These packages are left out: snap\/taken-on\./,
  );
  t.match(narrowed.text, /snap\/hello-on 4 changes .* revision 12 nothing .* snap\/taken-on left out/);
  const other = { without: '' };
  t.match(await root.send(narrowed, `${address}/accept`, other), { status: 409 }, 'more than was previewed');
  t.match(
    await root.send(narrowed, `${address}/accept`, { without: 'snap/hello-on, snap/taken-on' }),
    { status: 409, text: /All packages of this transfer are left out/ },
    'less than was previewed',
  );
  t.match(
    await root.send(narrowed, `${address}/accept`, { without: 'snap/hello-on' }),
    { status: 409 },
    'another choice',
  );
  t.equal(await counted(store, 'accept_transfer'), 0);
  const digest = /The digest of these changes is ([0-9a-f]{64}) \./.exec(narrowed.text)?.[1];
  const accepted = await root.send(narrowed, `${address}/accept`);
  t.match(accepted.text, /The transfer is accepted\..*Left out snap\/taken-on: The administrator left it out/);
  const [row] = (await store.beside.records.audit.list(0, 10_000)).filter(
    (entry) => entry.action === 'accept_transfer',
  );
  t.equal(
    (JSON.parse(row?.details ?? '{}') as { digest?: string }).digest,
    digest,
    'the audit log has the digest that was seen',
  );
  const client = await store.as('root');
  t.equal((await client.get('/internal/v1/packages/snap/hello-on')).status, 200);
});

t.test(
  'a transfer without a package waits for approvals of the rest, and is accepted without the package again',
  async (t) => {
    const { store, address } = await blocked(t);
    const rule = readRule('1');
    await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'transfer-approver', remove: false });
    await store.beside.acts.do(changeApprovalPolicy, itself, {
      ...noPolicy,
      rules: { ...(rule && { transfers: rule }) },
    });
    store.clock.advance(hours(73));
    const root = await store.visit('root');
    const waits = await root.send(await root.open(`${address}?without=snap/taken-on`), `${address}/accept`);
    t.match(
      waits.text,
      /The change is proposed and waits for the approvals below.*These packages are left out: snap\/taken-on\./,
    );
    const proposal = await store.beside.records.proposals.find(1);
    t.notSame(proposal?.lines, []);
    t.notMatch(JSON.stringify(proposal?.lines), 'taken-on', 'the approvers see the rest alone');
    const { approve } = await approver(store);
    t.match((await approve()).text, /It has enough approvals now/);
    const again = await store.visit('root');
    const shown = await again.open(waits.address);
    t.match((await again.send(shown, `${address}/accept`)).text, /The transfer is accepted\..*Approved by .*\(bob/);
  },
);
