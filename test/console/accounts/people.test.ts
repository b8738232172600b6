// Accounts and tokens in the console: the list of accounts, invitations, the tokens of an account, and how each is
// ended.
import t from 'tap';

import { days } from '#domain/clock.ts';
import { password } from '#test/identity/world.ts';
import { startConsole, type Page } from '#test/console/world.ts';

const nasty = `<b>x</b>"'javascript:alert(1)`;

t.test('people and tokens', async (t) => {
  const store = await startConsole(t);
  const { records } = store.beside;
  const { ada: adaId, bob: bobId, root: rootId } = store.ids;
  const entry = (object: string) => ({ at: store.clock.now.toISOString(), actor: 'test', action: 'test', object });
  let root = await store.visit('root');
  const ada = await store.visit('ada');
  const pages = [
    '/console/people',
    `/console/people/${bobId}`,
    `/console/people/${bobId}/disable`,
    `/console/people/${bobId}/end-tokens`,
    '/console/people/tokens',
  ];
  const hrefs = (page: Page): string[] =>
    [...page.html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

  await t.test('are for administrators of the store', async (t) => {
    for (const page of pages) {
      t.equal((await store.visitor().open(page)).status, 401, page);
      t.match(await ada.open(page), { status: 403, text: /Only a store administrator may do this/ }, page);
      t.equal((await root.open(page)).status, 200, page);
    }
    t.notMatch((await ada.open('/console')).html, 'href="/console/people"');
    t.match(await root.open('/console/people/nobody'), { status: 404, text: /no account with the id/ });
  });

  await t.test('a person is invited, sets a password, and logs in', async (t) => {
    const page = await root.open('/console/people');
    const typed = {
      username: 'carol',
      'display-name': 'Carol',
      email: 'Carol@Example.org',
      id: 'carol-of-acme',
      password,
    };
    t.match(await root.send(page, '/console/people', { ...typed, email: 'no address' }), {
      status: 400,
      text: /is not an e-mail address/,
    });
    t.match(await root.send(page, '/console/people', { ...typed, username: 'ada' }), {
      status: 409,
      text: /user name 'ada' is taken/,
    });
    const made = await root.send(page, '/console/people', typed);
    t.match(made, {
      status: 200,
      text: /Works once, until 2026-03-04 12:00 UTC .*Hello Carol, .* your user name is carol/,
    });
    const [link = ''] = /http:[^\s<]*\/identity\/set-up\/[\w-]{43}/.exec(made.html) ?? [];
    t.match(
      (await root.open('/console/people?q=CAROL')).text,
      /carol Carol carol@example\.org publisher only Invited, no password yet/,
    );
    const whoseLink = async () => (await root.open('/console/people/carol-of-acme')).text;
    t.match(await whoseLink(), /What you can do New link to set a password/);
    const form = {
      key: link.slice(link.lastIndexOf('/') + 1),
      password: 'four words of carol',
      again: 'four words of carol',
    };
    const set = await fetch(`${store.url}/identity/set-up`, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
    t.equal(set.status, 303);
    const carol = store.visitor();
    t.match(await carol.logIn('carol', { password: 'four words of carol' }), { status: 200, text: /Carol/ });
    t.match(await whoseLink(), /What you can do New password, by a link/);
    t.match(
      (await root.open('/console/people/carol-of-acme')).text,
      /Logs in with Password Last seen 2026-03-01 12:00 UTC/,
    );

    const linking = '/console/people/carol-of-acme/set-up-link';
    const confirmation = await root.open(linking);
    t.match(
      confirmation.text,
      /A link for Carol\? .*After a change of an account, its approvals do not count for 72 hours/,
    );
    const again = await root.send(confirmation, linking, { password });
    t.match(again, { status: 200, text: /A link for Carol/ });
    t.notMatch((await root.open('/console/people/carol-of-acme')).html, /set-up\/[\w-]{43}/, 'a link is shown once');
    const acts = (await records.audit.newest(Number.MAX_SAFE_INTEGER, 20)).filter(
      ({ actor, action }) => actor === rootId && action.endsWith('_account'),
    );
    t.match(
      acts.map(({ action }) => action),
      ['invite_account', 'invite_account', 'create_account'],
    );
  });

  await t.test('a link is made by who proves who they are, and none for oneself', async (t) => {
    const linking = `/console/people/${bobId}/set-up-link`;
    const confirmation = await root.open(linking);
    t.match(await root.send(confirmation, linking, { password: 'a stolen session' }), { status: 403 });
    t.match(await ada.send(confirmation, linking, { password }), { status: 403 });
    const page = await root.open('/console/people');
    const typed = { username: 'dora', 'display-name': 'Dora', email: 'dora@example.org' };
    t.match(await root.send(page, '/console/people', { ...typed, password: 'a stolen session' }), { status: 403 });
    t.match(
      (await root.open('/console/people?q=dora')).text,
      /No name or address contains this text/,
      'nor is an account made',
    );
    t.notMatch((await root.open(`/console/people/${rootId}`)).html, /set-up-link/);
    const own = `/console/people/${rootId}/set-up-link`;
    t.match(await root.send(await root.open(own), own, { password }), {
      status: 403,
      text: /You cannot make a link for your own account/,
    });
    t.equal((await records.people.find(rootId))?.linkUntil, null);
  });

  await t.test('a disabled account is logged out, and an enabled one can log in', async (t) => {
    const bob = await store.visit('bob');
    await (await store.as('bob')).post('/v1/snap', { name: 'bobs' });
    const confirmation = await root.open(`/console/people/${bobId}/disable`);
    t.match(
      confirmation.text,
      /Not valid while the account is disabled: 2 tokens and sessions\. Unchanged: 1 package\./,
    );
    t.equal((await bob.open('/console')).status, 200, 'who only asks has done nothing');
    const done = await root.send(confirmation, `/console/people/${bobId}/disable`);
    t.match(done, {
      status: 200,
      address: /^\/console\/people\/B+\?done=/,
      text: /The account is disabled.*disabled since/,
    });
    t.equal((await bob.open('/console')).status, 401);
    const back = await root.send(done, `/console/people/${bobId}/enable`);
    t.match(back.text, /is enabled.*enabled/);
    t.equal((await bob.open('/console')).status, 200, 'his login is good again');
    t.match(back.html, /href="\/console\/packages\/snap\/bobs"/);

    const all = await root.open(`/console/people/${bobId}/end-tokens`);
    t.match(all.text, /2 tokens and sessions will be revoked immediately/);
    t.match(
      (await root.send(all, `/console/people/${bobId}/end-tokens`)).text,
      /All tokens of the account are revoked/,
    );
    t.equal((await bob.open('/console')).status, 401);
    const alone = await root.open(`/console/people/${rootId}/disable`);
    t.match(await root.send(alone, `/console/people/${rootId}/disable`), {
      status: 409,
      text: /the only store administrator/,
    });
  });

  await t.test('roles are given and taken by an administrator who logs in again first', async (t) => {
    const page = `/console/people/${bobId}`;
    const role = `${page}/role`;
    const shown = await root.open(page);
    t.match(
      shown.text,
      /Roles No role: the account is only a publisher\. Another role store-admin transfer-approver auditor/,
    );
    t.match(await store.visitor().open(`${role}?role=auditor`), { status: 401 });
    t.match(await ada.open(`${role}?role=auditor`), { status: 403, text: /Only a store administrator/ });
    const ask = await root.open(`${role}?role=auditor`);
    t.match(ask.text, /Make Bob auditor\? .*have the role from the next request on.* Reads the audit log/);
    t.match(await root.send(ask, role, { password: 'wrong' }), { status: 403 });
    t.match(await ada.send(ask, role, { password }), { status: 403 }, 'and nobody gives himself one');
    t.same(await records.accounts.rolesOf(bobId), [], 'nothing is given by looking, or without a password');
    t.match(await root.send(ask, role, { password }), {
      status: 200,
      text: /The role is given.* auditor Reads the audit/,
    });
    const bob = await store.visit('bob');
    t.match(await bob.open('/console/audit'), { status: 200 });
    const take = await root.open(`${role}?role=auditor&remove=yes`);
    t.match(take.text, /Remove auditor from Bob\?/);
    t.match(await root.send(take, role, { password }), { status: 200, text: /The role is removed/ });
    t.match(await bob.open('/console/audit'), { status: 403 });
    t.match(await root.open(`${role}?role=owner`), { status: 400, text: /The role is store-admin, transfer-approver/ });
    const own = `/console/people/${rootId}/role`;
    const leaving = await root.open(`${own}?role=store-admin&remove=yes`);
    t.match(await root.send(leaving, own, { password }), { status: 409, text: /only store administrator/i });
  });

  await t.test('a publisher may have so much', async (t) => {
    const address = `/console/people/${bobId}/quota`;
    const page = await root.open(`/console/people/${bobId}`);
    t.match(page.text, /default for the value of the configuration/);
    t.match(await root.send(page, address, { bytes: '1 stone' }), {
      status: 400,
      text: /such as 20G, 500M or 1000, none or default, not '1 stone'/,
    });
    const set = await root.send(page, address, { bytes: '2048K', packages: '2' });
    t.match(set.text, /In the store 0 bytes of 2\.0 MiB; 1 of 2 packages/);
    t.match(set.html, /name="bytes"[^>]*value="2M"/s);
    t.match((await (await store.as('root')).get(`/internal/v1/accounts/${bobId}/quota`)).body, {
      bytes: { limit: 2 ** 21 },
      packages: { limit: 2 },
    });
    t.match(
      (await root.send(set, address, { bytes: 'none', packages: 'default' })).html,
      /name="bytes"[^>]*value="none"/s,
    );
  });

  await t.test('tokens show their owner and permissions, and are revoked at once', async (t) => {
    const allowed = {
      permissions: ['package-view' as const],
      channels: ['*/edge'],
      packages: [{ type: 'snap' as const, name: 'hello' }],
    };
    const { token, sessionId } = await store.beside.authority.issue(
      { accountId: adaId, ...allowed },
      { actor: 'test' },
    );
    const client = store.with(token);
    t.equal((await client.get('/v1/tokens/whoami')).status, 200);
    const page = await root.open('/console/people/tokens?account=ada');
    t.match(
      page.text,
      /ada package-view Packages: snap:hello Channels: \*\/edge 2026-03-01 12:00 UTC 2027-03-01 12:00 UTC/,
    );
    t.match(page.text, /Login to the console ada All permissions of the account, in the console/);
    t.notMatch(page.html, /logged in as root/);
    t.match((await root.open('/console/people/tokens?account=root')).text, /Login to the console this login/);
    t.match((await root.open('/console/people/tokens?account=nobody')).text, /or does not exist/);
    const address = `/console/people/tokens/${sessionId}/end`;
    t.ok(hrefs(page).includes(address));
    t.match(await ada.open(address), { status: 403 });
    const confirmation = await root.open(address);
    t.match(confirmation.text, /Its owner, ada, needs another one/);
    t.equal((await client.get('/v1/tokens/whoami')).status, 200);
    t.match((await root.send(confirmation, address)).text, /The token is revoked/);
    t.equal((await client.get('/v1/tokens/whoami')).status, 401);
    t.match((await root.open('/console/people/tokens?account=ada&show=all')).text, /ended 2026-03-01 12:00 UTC/);
    t.match(await root.open('/console/people/tokens/none/end'), { status: 404 });
    t.equal((await root.send(confirmation, address)).status, 200, 'who is late finds it ended');
  });

  await t.test('tokens that expire soon are first', async (t) => {
    for (const ttl of [86_400, 20 * 86_400, 40 * 86_400]) await store.as('bob', { ttl });
    const { text } = await root.open('/console/people/tokens?show=ending&account=bob');
    t.match(text, /2026-03-02 12:00 UTC.*2026-03-21 12:00 UTC/);
    t.notMatch(text, /2026-04-10/);
  });

  await t.test('user input is shown as text, and lists have fifty rows a page', async (t) => {
    await records.change(entry('accounts'), async (tx) => {
      for (let at = 0; at < 51; at++) {
        const username = `many${String(at).padStart(2, '0')}`;
        const more = {
          displayName: nasty,
          email: `${username}@example.org`,
          validation: 'unproven',
          createdAt: store.clock.now.toISOString(),
        };
        await tx.accounts.add({ id: username, username, ...more });
      }
    });
    const described = await store.beside.authority.issue({ accountId: adaId, description: nasty }, { actor: 'test' });
    const first = await root.open('/console/people?q=many');
    t.equal(hrefs(first).filter((href) => href.startsWith('/console/people/many')).length, 50);
    const next = hrefs(first).find((href) => href.includes('cursor='))!;
    t.same(
      hrefs(await root.open(next)).filter((href) => href.startsWith('/console/people/many')),
      ['/console/people/many50'],
    );
    t.match((await root.open('/console/people?q=no%25one')).text, /Search for a shorter part/);
    for (const address of [
      '/console/people?q=many',
      '/console/people/many00',
      '/console/people/many00/disable',
      '/console/people/tokens',
      `/console/people/tokens/${described.sessionId}/end`,
    ]) {
      const page = await root.open(address);
      t.match(page.text, nasty, address);
      t.notMatch(page.html, '<b>x', address);
      t.notOk(
        hrefs(page).some((href) => href.startsWith('javascript')),
        address,
      );
    }
    await Promise.all(
      Array.from({ length: 51 }, () => store.beside.authority.issue({ accountId: bobId }, { actor: 'test' })),
    );
    const tokens = await root.open('/console/people/tokens');
    t.equal(tokens.html.match(/End it now/g)?.length, 50);
    t.ok(tokens.html.length < 200 * 1024, String(tokens.html.length));
    t.match((await root.open(hrefs(tokens).find((href) => href.includes('cursor='))!)).status, 200);
  });

  await t.test('two who end the same token do it once', async (t) => {
    store.clock.advance(days(1));
    root = await store.visit('root');
    const { sessionId } = await store.beside.authority.issue({ accountId: bobId }, { actor: 'test' });
    const address = `/console/people/tokens/${sessionId}/end`;
    const page = await root.open(address);
    const both = await Promise.all([root.send(page, address), root.send(page, address)]);
    t.same(
      both.map(({ status }) => status),
      [200, 200],
    );
    t.equal((await records.macaroons.find(sessionId))?.revokedBy, rootId);
  });
});
