// larder token issue
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '#test/fixtures/records/writable.ts';
import { newStore } from '#test/cli/process.ts';

interface Issued {
  macaroon: string;
  'session-id': string;
  'valid-until': string;
}

t.test('a token is alone on the standard output, for scripts', async (t) => {
  const { larder } = await newStore(t);
  const { code, out, err } = await larder('token issue --account larder-admin');
  t.equal(code, 0);
  t.match(out, /^[A-Za-z0-9_-]{100,}\n$/);
  t.match(err, /^A token of larder-admin \(admin\), valid until \d{4}-\S+Z; its session is [0-9a-f-]{36}\.\n$/);
});

t.test('a token is narrowed by the given limits only', async (t) => {
  const { data, json, larder } = await newStore(t);
  const whole = (await json('token issue --account larder-admin')) as Issued;
  t.same(Object.keys(whole), ['macaroon', 'session-id', 'valid-until']);
  const narrow = (await json(
    'token issue --account larder-admin --permission package-view --permission package-manage-releases ' +
      '--channel edge --channel */beta --package snap:hello --package charm:hello --ttl 60 --description builds',
  )) as Issued;
  t.match((await larder('token issue --account larder-admin --json')).err, /^$/);

  const { authority, records, close } = await openStore({ directory: data });
  t.teardown(close);
  t.match(await authority.authenticate([whole.macaroon]), {
    accountId: 'larder-admin',
    storeAdministrator: true,
    sessionId: whole['session-id'],
    permissions: null,
    channels: null,
    packages: null,
  });
  const principal = await authority.authenticate([narrow.macaroon]);
  t.match(principal, {
    permissions: ['package-view', 'package-manage-releases'],
    channels: [[{ text: 'edge' }, { text: '*/beta' }]],
    packages: [
      [
        { type: 'snap', name: 'hello' },
        { type: 'charm', name: 'hello' },
      ],
    ],
  });
  const macaroons = await records.macaroons.list('larder-admin', new Date().toISOString(), false);
  const life = ({ validSince, validUntil }: { validSince: string; validUntil: string }) =>
    Date.parse(validUntil) - Date.parse(validSince);
  t.strictSame(macaroons.map((macaroon) => [macaroon.description, life(macaroon)]).slice(0, 2), [
    [null, 365 * 24 * 3600_000],
    ['builds', 60_000],
  ]);
});

t.test('a wrong word is refused with the right one', async (t) => {
  const { larder } = await newStore(t);
  const cases: [string, string][] = [
    ['--permission package-mange', "--permission cannot be 'package-mange'; did you mean 'package-manage'?"],
    [
      '--permission package-view-revision',
      "--permission cannot be 'package-view-revision'; did you mean 'package-view-revisions'?",
    ],
    ...['a/b/c/d', 'latest/egde', 'LATEST/EDGE', '1/2/3', '3.*/stable', 'edge/stable'].map(
      (channel): [string, string] => [
        `--channel latest/edge --channel ${channel}`,
        `--channel is a channel such as latest/edge, or a pattern such as */edge, not '${channel}'`,
      ],
    ),
    [
      '--package hello',
      "--package is TYPE:NAME, such as snap:hello, not 'hello'; the types are bin, charm, bundle, snap, rock, sdk, rockcraft, snapcraft, charmcraft, sourcecraft",
    ],
    ['--package snp:hello', "--package is TYPE:NAME, such as snap:hello, not 'snp:hello'; did you mean 'snap:hello'?"],
    ['--package snap:-', "--package snap:-: A package name has 2 to 40 characters; '-' has 1."],
    ['--ttl 9', "--ttl is a whole number from 10 to 31536000, not '9'"],
    ['--ttl 63072000', "--ttl is a whole number from 10 to 31536000, not '63072000'"],
  ];
  for (const [options, message] of cases) {
    const { code, err } = await larder(`token issue --account larder-admin ${options}`);
    t.strictSame([code, err.split('\n')[0]], [2, `larder: ${message}`]);
  }
  t.match(await larder(`token issue --account larder-admin --description ${'x'.repeat(1025)}`), { code: 2 });
  t.match(await larder('token issue --account nobody'), { code: 1, err: /There is no account with the id 'nobody'/ });
});

t.test('no token lasts longer than the configuration lets it', async (t) => {
  const { data, json, larder } = await newStore(t);
  const file = join(data, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^.*longest_token_days = 365$/m, 'longest_token_days = 2'));
  t.match(await larder('token issue --account larder-admin --ttl 172801'), {
    code: 2,
    err: /^larder: --ttl: A token of this store lasts at most 172800 seconds, which is 2 days, not 172801\n/,
  });
  const { 'valid-until': until } = (await json('token issue --account larder-admin')) as Issued;
  const life = Date.parse(until) - Date.now();
  t.ok(life > 47 * 3600_000 && life <= 48 * 3600_000, until);
});

t.test('with a clock that was set back it begins at the latest known time, and the problem is reported', async (t) => {
  const { data, larder } = await newStore(t);
  const later = new Date(Date.now() + 3 * 24 * 3600_000).toISOString();
  const store = await openStore({ directory: data });
  const entry = { at: later, actor: 'test', action: 'test', object: 'clock' };
  await store.records.change(entry, (tx) => tx.appliance.set('latest-time', later));
  await store.close();
  const { out, err } = await larder('token issue --account larder-admin --ttl 3600');
  t.match(
    err,
    /\nThe clock says .*, more than a day before the time of the last run of larder, .*'larder clock accept'/,
  );
  const { authority, close } = await openStore({ directory: data, now: () => new Date(later) });
  t.teardown(close);
  t.match(await authority.authenticate([out.trim()]), { accountId: 'larder-admin' });
});

const email = (name: string): string =>
  `--email ${name}@example.org --username ${name} --display-name ${name} --id ${name}-id`;

t.test('tokens are listed and ended, one or all of an account', async (t) => {
  const { data, json, larder } = await newStore(t);
  await larder(`account create ${email('ada')}`);
  const remaining = (await json('token issue --account larder-admin')) as Issued;
  const [first, second] = [
    (await json("token issue --account ada-id --ttl 60 --description 'nightly builds'")) as Issued,
    (await json('token issue --account ada-id')) as Issued,
  ];
  const sessions = async (options = ''): Promise<string[]> =>
    ((await json(`token list ${options}`)) as { tokens: { 'session-id': string }[] }).tokens.map(
      (token) => token['session-id'],
    );
  t.same(new Set(await sessions()), new Set([remaining, first, second].map((token) => token['session-id'])));
  t.same(new Set(await sessions('--account ada-id')), new Set([first, second].map((token) => token['session-id'])));
  t.match(
    (await larder('token list --account ada-id')).out,
    /^SESSION +ACCOUNT +SINCE +UNTIL +LAST USED +FOR\n.* ada-id \(ada\) /,
  );
  t.match((await larder('token list --limit 1')).out, /There are more; --limit shows them\.\n$/);
  t.match(await larder('token list --account ada'), { code: 1, err: /that is a name of the account ada-id/ });

  t.match(await larder(`token revoke ${first['session-id']}`), { code: 2 }, 'it is asked first');
  t.match(await larder(`token revoke ${first['session-id']} --yes`), {
    code: 0,
    out: `The token of ada-id (ada) with the session ${first['session-id']} has ended.\n`,
  });
  t.same(await sessions('--account ada-id'), [second['session-id']]);
  t.match((await larder('token list --account ada-id --ended')).out, / revoked 2\S+Z +- +nightly builds\n/);
  t.match(await json('token revoke nonsense --yes'), { code: 'resource-not-found' });
  for (const options of [
    '',
    '--issued-before 2026-03-01T12:00:00Z',
    'x --account ada-id',
    '--account ada-id --issued-before now',
  ]) {
    t.match(await larder(`token revoke ${options} --yes`), { code: 2 }, options);
  }
  const before = '--issued-before 2026-01-01T00:00:00Z --yes';
  t.same(await json(`token revoke --account ada-id ${before}`), { id: 'ada-id', 'ended-tokens': 0 });
  t.match(await larder('token revoke --account ada-id --yes'), { out: '1 token of ada-id (ada) ended for good.\n' });
  t.same(await sessions(), [remaining['session-id']]);

  const store = await openStore({ directory: data });
  t.teardown(store.close);
  await t.rejects(async () => store.authority.authenticate([second.macaroon]), {
    code: 'macaroon-authorization-required',
  });
  const rows = (await store.records.audit.list(0, 100)).filter(({ action }) =>
    ['revoke_token', 'end_tokens'].includes(action),
  );
  t.match(rows, [
    { object: `session/${first['session-id']}`, actor: /^cli:/ },
    { object: 'account/ada-id', details: '{"issued-before":"2026-01-01T00:00:00.000Z","ended-tokens":0}' },
    { object: 'account/ada-id', details: '{"ended-tokens":1}' },
  ]);
});

t.test('tokens that begin at the latest time seen are ended too, when the clock was set back', async (t) => {
  const { data, json } = await newStore(t);
  const later = new Date(Date.now() + 3 * 24 * 3600_000).toISOString();
  const store = await openStore({ directory: data });
  t.teardown(store.close);
  const entry = { at: later, actor: 'test', action: 'test', object: 'clock' };
  await store.records.change(entry, (tx) => tx.appliance.set('latest-time', later));
  await json('token issue --account larder-admin --ttl 60');
  t.match(await json('token list'), { tokens: [{ username: 'admin' }] });
  t.match(await json('token revoke --account larder-admin --yes'), { 'ended-tokens': 1 });
  const endedAt = await store.records.accounts.tokensEndedAt('larder-admin');
  t.ok(endedAt !== null && endedAt >= later, 'and a login of that time that was kept for later');
});
