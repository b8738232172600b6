// larder account create, account list, account role; brand create
import t from 'tap';
import { openStore } from '#data/store.ts';
import { newStore } from '#test/cli/process.ts';

const ada = "account create --email ada@example.org --username ada --display-name 'Ada Lovelace'";

t.test('an account gets an id of its own, or keeps its id of the online store', async (t) => {
  const { json, larder } = await newStore(t);
  const made = await json("account create --email Ada@Example.ORG --username ada --display-name ' Ada Lovelace '");
  t.match(made, {
    id: /^[a-zA-Z0-9]{32}$/,
    username: 'ada',
    'display-name': 'Ada Lovelace',
    email: 'ada@example.org',
    validation: 'unproven',
    'created-at': /^\d{4}-.*Z$/,
    roles: [],
  });
  const bob = 'account create --email bob@example.org --username bob --display-name Bob';
  t.match(await json(`${bob} --id xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI`), { id: 'xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI' });
  t.match(
    await larder('account create --email acme@example.org --username acme --display-name Acme --id acme-devices'),
    {
      code: 0,
      out: 'The account acme-devices of Acme (acme, acme@example.org) is made.\n',
      err: '',
    },
  );
  const list = (await json('account list')) as { accounts: { id: string }[] };
  t.match(list.accounts.slice(0, 2), [{ id: 'larder-admin', roles: ['store-admin'] }, made]);
  t.equal(list.accounts.length, 4);
  const { out } = await larder('account list');
  t.match(
    out,
    /^ID +USER NAME +E-MAIL +DISPLAY NAME +ROLES\nlarder-admin +admin +admin@larder.invalid .*store-admin\n/,
  );
  t.equal(out.split('\n').length, 6);
});

t.test('a taken name is named in the error, and no account is made', async (t) => {
  const { json, larder } = await newStore(t);
  await larder(`${ada} --id ada-lovelace`);
  const cases: [string, string][] = [
    ['--email x@example.org --username x --id ada-lovelace', "The account id 'ada-lovelace' is taken."],
    ['--email x@example.org --username ada', "The user name 'ada' is taken."],
    ['--email ADA@example.org --username x', "The e-mail address 'ada@example.org' is taken."],
  ];
  for (const [options, error] of cases) {
    t.strictSame(await json(`account create --display-name X ${options}`), { error, code: 'conflict' });
  }
  t.equal(((await json('account list')) as { accounts: unknown[] }).accounts.length, 2);
});

t.test('an account that cannot be meant is refused', async (t) => {
  const { larder } = await newStore(t);
  const cases: [string, RegExp][] = [
    ['--email ada --username ada --display-name Ada', /^larder: --email is an e-mail address, not 'ada'\n/],
    ['--email a@b@c --username ada --display-name Ada', /--email is an e-mail address/],
    ['--email a@-.. --username ada --display-name Ada', /--email is an e-mail address/],
    ["--email 'a b@c' --username ada --display-name Ada", /--email is an e-mail address/],
    [
      '--email a@b --username Ada --display-name Ada',
      /A user name holds lower-case letters, digits and, .* unlike 'Ada'/,
    ],
    ['--email a@b --username ada@b --display-name Ada', /A user name holds/],
    [`--email a@b --username ${'a'.repeat(65)} --display-name Ada`, /A user name has at most 64 characters, not 65/],
    ["--email a@b --username ada --display-name '  '", /A display name must not be blank/],
    ["--email a@b --username ada --display-name 'A\nda'", /A display name must be one line/],
    [`--email a@b --username ada --display-name ${'a'.repeat(129)}`, /A display name has at most 128 characters/],
    ['--email a@b --username ada --display-name Ada --id a', /--id is an account id, .*, not 'a'/],
    ['--email a@b --username ada', /'account create' needs --display-name NAME/],
  ];
  for (const [options, pattern] of cases) {
    t.match(await larder(`account create ${options}`), { code: 2, out: '', err: pattern }, options);
  }
});

t.test('a role is given and taken away, twice does no harm', async (t) => {
  const { json, larder } = await newStore(t);
  await larder(`${ada} --id ada-lovelace`);
  await larder('account create --email acme@example.org --username acme --display-name Acme --id acme');
  t.strictSame(await json("brand create --account acme --name 'Acme Devices'"), {
    'account-id': 'acme',
    name: 'Acme Devices',
  });
  for (let twice = 0; twice < 2; twice++) {
    t.strictSame(await json('account role ada-lovelace store-admin'), { id: 'ada-lovelace', roles: ['store-admin'] });
  }
  t.match(await larder('account role ada-lovelace brand-admin:acme'), {
    code: 0,
    out: 'The account ada-lovelace (ada) has now: store-admin, brand-admin:acme.\n',
  });
  for (let twice = 0; twice < 2; twice++) {
    t.strictSame(await json('account role ada-lovelace store-admin --remove --yes'), {
      id: 'ada-lovelace',
      roles: ['brand-admin:acme'],
    });
  }
  t.match(await larder('account role ada-lovelace brand-admin:acme --remove --yes'), { out: /has now: no role\./ });
});

t.test('roles, accounts and brands that do not exist are refused', async (t) => {
  const { json, larder } = await newStore(t);
  await larder(`${ada} --id ada-lovelace`);
  t.match(await larder('account role ada-lovelace store-amdin'), {
    code: 2,
    err: /^larder: the role is store-admin, transfer-approver, auditor or brand-admin:BRAND, not 'store-amdin'; did you mean 'store-admin'\?/,
  });
  t.match(await larder('account role ada-lovelace brand-admin'), { code: 2 });
  t.match(await larder('account role ada-lovelace store-admin:acme'), { code: 2 });
  t.strictSame(await json('account role ada-lovelace brand-admin:acme'), {
    error: "There is no brand with the account 'acme'.",
    code: 'resource-not-found',
  });
  t.strictSame(await json('account role bob store-admin'), {
    error: "There is no account with the id 'bob'; 'larder account list' lists them.",
    code: 'account-not-found',
  });
  t.strictSame(await json('account role ada store-admin'), {
    error: "There is no account with the id 'ada'; that is a name of the account ada-lovelace.",
    code: 'account-not-found',
  });
  t.match(await json('brand create --account acme --name Acme'), { code: 'account-not-found' });
  t.match(await larder("brand create --account ada-lovelace --name ' '"), {
    code: 2,
    err: /A brand name must not be blank/,
  });
  await larder('brand create --account ada-lovelace --name Ada');
  t.strictSame(await json('brand create --account ada-lovelace --name Ada'), {
    error: "The account 'ada-lovelace' is a brand already.",
    code: 'conflict',
  });
});

t.test('every change is in the audit log, with the person at the terminal', async (t) => {
  const { data, larder } = await newStore(t);
  await larder(`${ada} --id ada-lovelace`);
  await larder('account role ada-lovelace store-admin');
  await larder('account role bob store-admin');
  await larder('package register snap/hello --account ada-lovelace');
  await larder('token issue --account ada-lovelace');
  await larder('brand create --account ada-lovelace --name Ada');
  await larder('admin-macaroon');
  await larder('clock accept');
  const store = await openStore({ directory: data });
  t.teardown(() => store.close());
  const rows = await store.records.audit.list(0, 100);
  const cli = rows.filter(({ actor }) => actor !== 'larder');
  for (const { actor } of cli) t.match(actor, /^cli:[\w.-]+$/);
  t.match(
    cli.map(({ action, object, details }) => [action, object, JSON.parse(details) as object]),
    [
      ['create_store', 'account/larder-admin', {}],
      ['create_account', 'account/ada-lovelace', { username: 'ada', email: 'ada@example.org' }],
      ['change_role', 'account/ada-lovelace', { role: 'store-admin', removed: false }],
      ['register_name', 'snap/hello', { id: /^\w{32}$/, account: 'ada-lovelace' }],
      ['issue_token', /^session\//, { account: 'ada-lovelace' }],
      ['create_brand', 'brand/ada-lovelace', { name: 'Ada' }],
      ['issue_admin_credential', 'account/larder-admin', { digest: /^[0-9a-f]{96}$/, added: false }],
      ['accept_clock', 'clock', { before: null }],
    ],
  );
  t.equal(cli.length, 8, 'a refused change leaves nothing');
});
