// larder account password, totp, invite, disable and enable; agent register, list and remove; key rotate; permissions
import t from 'tap';
import { openStore, type StoreHandle } from '#data/store.ts';
import { sitePasswords } from '#identity/identity.ts';
import { setUpDigest, totpPurpose } from '#identity/login/logins.ts';
import { keyText, newKeyPair } from '#macaroons/codec/keys.ts';
import { unseal } from '#macaroons/sealing.ts';
import { newStore, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

interface AdaStore extends NewStore {
  withStdin(line: string, stdin: string): ReturnType<typeof larder>;
  /** Looks into the records. */
  look<Result>(work: (store: StoreHandle) => Promise<Result>): Promise<Result>;
}

async function adasStore(t: Parameters<typeof newStore>[0]): Promise<AdaStore> {
  const store = await newStore(t);
  await store.larder('account create --email ada@example.org --username ada --display-name Ada --id ada-lovelace');
  return Object.assign(store, {
    withStdin: (line: string, stdin: string) => larder(line, { env: { LARDER_DATA: store.data }, stdin: [stdin] }),
    async look<Result>(work: (opened: StoreHandle) => Promise<Result>): Promise<Result> {
      const opened = await openStore({ directory: store.data });
      try {
        return await work(opened);
      } finally {
        await opened.close();
      }
    },
  });
}

const setPassword = 'account password ada-lovelace --password-stdin';

t.test('a password is read from the standard input, and only its hash is stored', async (t) => {
  const { withStdin, look } = await adasStore(t);
  t.match(await withStdin(setPassword, 'four words of ada\n'), {
    code: 0,
    out: 'The password of ada-lovelace (ada) is set.\n',
    err: '',
  });
  const storedPassword = await look(async ({ records, siteKey }) => {
    const password = await records.passwords.find('ada-lovelace');
    const passwords = sitePasswords(siteKey);
    t.match(await passwords.verify('four words of ada', password?.hash), { right: true, stale: false });
    t.match(await passwords.verify('four words of ada\n', password?.hash), { right: false });
    t.notMatch(JSON.stringify(await records.audit.list(0, 100)), 'four words');
    return password;
  });
  t.match(storedPassword?.hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1,keyid=/);
  const json = JSON.parse((await withStdin(`${setPassword} --json`, 'another of four words')).out) as object;
  t.strictSame(json, { id: 'ada-lovelace', username: 'ada' });
});

t.test('a password that cannot be meant is refused', async (t) => {
  const { withStdin, larder, look } = await adasStore(t);
  const cases: [string, RegExp][] = [
    ['', /there is no password on the standard input/],
    ['\n', /there is no password on the standard input/],
    ['one line\nand another\n', /more than one line/],
    ['x'.repeat(5000), /longer than 4096 bytes/],
    ['x'.repeat(1025), /at most 1024 bytes/],
    ['short', /at least 8 characters/],
    ['Passw0rd123', /too common/],
    ['ada@example.org', /name of the account/],
    ['four\twords of ada', /no control characters/],
  ];
  for (const [stdin, pattern] of cases)
    t.match(await withStdin(setPassword, stdin), { code: 1, out: '', err: pattern }, String(pattern));
  t.match(await larder('account password ada-lovelace'), { code: 2, err: /needs --password-stdin/ });
  t.match(await withStdin('account password ada --password-stdin', 'four words of ada'), {
    code: 1,
    err: /There is no account with the id 'ada'; that is a name of the account ada-lovelace/,
  });
  t.equal(await look(({ records }) => records.passwords.find('ada-lovelace')), undefined);
});

t.test('one-time passwords are turned on, set up again, and turned off', async (t) => {
  const { json, larder, look } = await adasStore(t);
  const made = await json('account totp ada-lovelace');
  t.equal((made['recovery-codes'] as string[]).length, 10);
  t.match(made, {
    id: 'ada-lovelace',
    totp: true,
    secret: /^[A-Z2-7]{32}$/,
    address: /^otpauth:\/\/totp\/127\.0\.0\.1%3A8080:ada\?secret=/,
  });
  await look(async ({ records, siteKey }) => {
    const storedSecret = await records.totpSecrets.find('ada-lovelace');
    t.equal(unseal(siteKey, storedSecret?.sealed ?? '', totpPurpose('ada-lovelace')).length, 20);
    t.notMatch(JSON.stringify(await records.audit.list(0, 100)), made.secret as string);
  });
  t.match(await json('account totp ada-lovelace'), { code: 'conflict', error: /use --replace for a new secret/ });
  t.not((await json('account totp ada-lovelace --replace --yes')).secret, made.secret);
  t.match(await larder('account totp ada-lovelace --remove --yes'), { code: 0, out: /with its password alone/ });
  t.match(await larder('account totp ada-lovelace --remove --yes'), {
    code: 1,
    err: /does not use one-time passwords/,
  });
});

t.test('an invitation is a single link, and only its digest is stored', async (t) => {
  const { json, larder, look } = await adasStore(t);
  const first = await larder('account invite ada-lovelace');
  t.match(first, {
    code: 0,
    out: /^http:\/\/127\.0\.0\.1:8080\/identity\/set-up\/[A-Za-z0-9_-]{43}\n$/,
    err: /good once and until/,
  });
  const second = await json('account invite ada-lovelace --hours 4');
  const keyOf = (link: string): string => link.trim().split('/').at(-1) ?? '';
  await look(async ({ records }) => {
    const at = new Date().toISOString();
    t.equal(await records.setUpLinks.find(setUpDigest(keyOf(first.out)), at), undefined, 'the second voids the first');
    t.match(await records.setUpLinks.find(setUpDigest(keyOf(second.link as string)), at), { id: 'ada-lovelace' });
    t.equal(
      await records.setUpLinks.find(setUpDigest(keyOf(second.link as string)), second['expires-at'] as string),
      undefined,
    );
    t.notMatch(JSON.stringify(await records.audit.list(0, 100)), keyOf(second.link as string));
  });
});

t.test('a new password ends the tokens of the account on request', async (t) => {
  const { json, withStdin, look } = await adasStore(t);
  const { macaroon } = (await json('token issue --account ada-lovelace')) as { macaroon: string };
  const isGood = () =>
    look(async ({ authority }) => {
      try {
        await authority.authenticate([macaroon]);
        return true;
      } catch {
        return false;
      }
    });
  await withStdin(setPassword, 'four words of ada');
  t.ok(await isGood());
  t.match(await withStdin(`${setPassword} --end-tokens`, 'another of four words'), {
    out: 'The password of ada-lovelace (ada) is set. 1 token ended for good.\n',
  });
  t.notOk(await isGood());
});

t.test('an account is disabled and enabled', async (t) => {
  const { json, larder } = await adasStore(t);
  const { macaroon } = await json('token issue --account ada-lovelace');
  t.type(macaroon, 'string');
  t.match(await json('account disable ada-lovelace --yes'), { id: 'ada-lovelace', 'disabled-at': /Z$/ });
  t.match((await larder('account list')).out, /ada-lovelace .*\(disabled\)\n/);
  t.match(await json('account invite ada-lovelace'), { code: 'conflict' });
  t.strictSame(await json('account enable ada-lovelace'), { id: 'ada-lovelace', 'disabled-at': null });
  const { accounts } = (await json('account list')) as { accounts: { id: string; 'disabled-at': string | null }[] };
  t.equal(accounts.find(({ id }) => id === 'ada-lovelace')?.['disabled-at'], null);
});

t.test('agents are registered, listed and removed', async (t) => {
  const { json, larder } = await adasStore(t);
  const key = keyText(newKeyPair().publicKey);
  const register = `agent register builder --account ada-lovelace --public-key`;
  const made = { username: 'builder', account: 'ada-lovelace', 'public-key': key };
  t.match(await json(`${register} ${key}`), { ...made, url: 'http://127.0.0.1:8080/identity' });
  t.match(await json(`${register} ${key}`), { code: 'conflict' });
  t.match(await json('agent list'), { agents: [made] });
  t.match((await larder('agent list')).out, new RegExp(`^AGENT +ACCOUNT .*\\nbuilder +ada-lovelace +`));
  const urlSafe = key.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  t.match(await json(`agent register other --account ada-lovelace --public-key ${urlSafe}`), { 'public-key': key });
  for (const [line, pattern] of [
    [`${register} nonsense`, /32 bytes in base64/],
    [`${register} ${Buffer.alloc(31).toString('base64')}`, /32 bytes in base64/],
    [`agent register 'a b' --account ada-lovelace --public-key ${key}`, /the name of an agent/],
  ] as const) {
    t.match(await larder(line), { code: 2, err: pattern });
  }
  t.match(await larder(`agent register x --account nobody --public-key ${key}`), {
    code: 1,
    err: /There is no account/,
  });
  t.match(await json('agent remove builder --yes'), { removed: 'builder' });
  t.match(await json('agent remove builder --yes'), { code: 'resource-not-found' });
});

t.test('keys are rotated by hand', async (t) => {
  const { json, larder, look } = await adasStore(t);
  const { id } = (await json('key rotate')) as { id: string };
  t.equal(await look(async ({ records }) => (await records.rootKeys.newest())?.id), id);
  const { 'public-key': publicKey } = await json('key rotate discharger --yes');
  t.equal(await look(async ({ records }) => (await records.dischargerKeys.list())[0]?.publicKey), publicKey);
  t.match(await larder('key rotate site'), { code: 2, err: /root or discharger, not 'site'/ });
  const rows = await look(({ records }) => records.audit.list(0, 100));
  t.match(
    rows.filter(({ action, actor }) => /_key$/.test(action) && actor !== 'larder'),
    [
      { actor: /^cli:/, action: 'rotate_root_key', object: 'root-keys' },
      { action: 'make_discharger_key', object: 'discharger-key' },
    ],
  );
});

t.test('the permission table is read from the records of the operations', async (t) => {
  const { out, code } = await larder('permissions');
  t.equal(code, 0);
  t.match(out, /^OPERATION +PERMISSION +WHO +SINCE +ADDRESS\n/);
  t.match(
    out,
    /\npush_revision +package-manage-revisions +publisher, collaborator, store administrator +1 +POST \/v1\/:namespace\/:name\/revisions\n/,
  );
  t.match(out, / GET \/openapi\.json \(only with http\.documents\)\n/);
  t.match(out, /\ndischarge +- +anyone +- +POST \/identity\/discharge\n/);
  const { operations } = JSON.parse((await larder('permissions --json')).out) as { operations: object[] };
  t.match(
    operations.find((entry) => 'operation' in entry && entry.operation === 'register_name'),
    {
      method: 'POST',
      path: '/v1/:namespace',
      permissions: ['account-register-package'],
      who: 'any account',
      since: 1,
      'enabled-by': null,
    },
  );
});
