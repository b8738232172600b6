// "May ada?": the answer is compared with the behaviour of the server.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { larder as run } from '#test/cli/world.ts';
import { commandsOn } from '#test/cli/process.ts';

interface Verdict {
  operation: string;
  allowed: boolean;
  because: string;
}

t.test('the permissions of each account for a package, and their rules', async (t) => {
  const store = await startStore(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await addCollaborator(store, id, 'bob');
  await store.join('eve');
  const ask = (query: string) => root.get(`/internal/v1/explain-access?${query}`);
  const verdicts = async (query: string) => (await ask(query)).body.verdicts as Verdict[];

  await t.test('the answer is what the server does', async (t) => {
    const reads = {
      package_metadata: '',
      list_revisions: '/revisions',
      list_releases: '/releases',
      get_collaborators: '/collaborators',
    };
    for (const somebody of ['ada', 'bob', 'eve', 'root'] as const) {
      const client = await store.as(somebody);
      const explained = await verdicts(`account=${somebody}&package=snap/hello`);
      t.ok(explained.length > 20, `${explained.length} operations`);
      for (const [operation, path] of Object.entries(reads)) {
        const { status } = await client.get(`/v1/snap/hello${path}`);
        t.equal(
          explained.find((verdict) => verdict.operation === operation)?.allowed,
          status === 200,
          `${somebody} ${operation}`,
        );
      }
    }
  });

  await t.test('with the reason', async (t) => {
    const explain = async (query: string) => (await verdicts(`package=snap/hello&operation=push_releases&${query}`))[0];
    t.match(await explain('account=ada'), { allowed: true, because: 'ada is the publisher of the package.' });
    t.match(await explain(`account=${store.ids.bob}`), {
      allowed: true,
      because: 'bob is a collaborator of the package.',
    });
    t.match(await explain('account=root'), { allowed: true, because: /administers the store/ });
    t.match(await explain('account=eve'), { allowed: false, because: /has no part in it/ });
    t.match(await verdicts('account=ada&package=snap/nothing&operation=push_releases'), [{ allowed: false }]);
    t.equal((await verdicts('account=ada&package=snap/hello&channel=edge')).length, 1);
  });

  await t.test('for a given token, by command', async (t) => {
    const { json } = commandsOn(store.directory);
    t.same((await json('permissions --account ada --package snap/hello')) as object, {
      verdicts: await verdicts('account=ada&package=snap/hello'),
    });
    const narrow = await store.as('ada', { permissions: ['package-manage-releases'], channels: ['edge'] });
    const about = async (rest: string) => {
      const line = `permissions --data ${store.directory} --package snap/hello --token-stdin --json ${rest}`;
      return (JSON.parse((await run(line, { stdin: [narrow.token] })).out) as { verdicts: Verdict[] }).verdicts;
    };
    t.match(await about('--channel edge'), [{ allowed: true, because: /publisher of the package, and the token/ }]);
    t.match(await about('--channel stable'), [
      { allowed: false, because: /does not allow the channel 'latest\/stable'/ },
    ]);
    t.match(await about('--operation push_revision'), [{ allowed: false, because: /package-manage-revisions/ }]);
    t.match(await about('--operation invite_collaborators'), [{ allowed: false }]);
    const lines = [
      '--account ada',
      '--package snap/hello',
      '--package hello --account ada',
      '--package snap/hello --account ada --operation nothing',
    ];
    for (const line of lines) t.match(await run(`permissions --data ${store.directory} ${line}`), { code: 2 }, line);
  });

  await t.test('an impossible question is refused', async (t) => {
    for (const query of [
      '',
      'account=ada',
      'package=snap/hello',
      'account=ada&package=hello',
      'account=ada&package=snap/hello&channel=a/b/c/d',
      'account=ada&package=snap/hello&operation=healthz',
      `account=${'x'.repeat(65)}&package=snap/hello`,
    ]) {
      t.match(await ask(query), { status: 400 }, query);
    }
    t.match(await ask('account=nobody&package=snap/hello'), {
      status: 400,
      body: { 'error-list': [{ code: 'account-not-found' }] },
    });
    await root.post(`/internal/v1/accounts/${store.ids.bob}/disable`, {});
    for (const account of ['bob', 'bob@example.com', store.ids.bob]) {
      t.match(
        await ask(`account=${account}&package=snap/hello`),
        { status: 409, body: { 'error-list': [{ message: /disabled since/ }] } },
        'that he is disabled is said by whichever name he is asked for',
      );
    }
    t.match(await ada.get('/internal/v1/explain-access?account=ada&package=snap/hello'), { status: 401 });
  });
});
