// The exact login requests of official clients, in order, and the fields of the responses that they read.
import t from 'tap';

import { days, hours, minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { bakeryFromJson } from '#macaroons/codec/bakery.ts';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { toJson2 } from '#macaroons/codec/json.ts';
import { bindForRequest, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { discharge, logInAt, password, startIdentity, type IdentityStore, type Posted } from './world.ts';

const json = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'charmcraft/4.3.1' };

/** A request as it is, with the answer as a client reads it. */
async function send(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Posted> {
  const reply = await fetch(url, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    redirect: 'error',
  });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    body: reply.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text,
  };
}

const thirdParty = ({ caveats }: DecodedMacaroon) =>
  caveats.filter(({ verificationId }) => verificationId !== undefined);

t.test('craft-store logs in with a browser window: charmcraft up to 4.3.1', async (t) => {
  const store = await startIdentity(t);
  const base = `${store.url}/publishergw`;
  const issued = await send('POST', `${base}/v1/tokens`, json, {
    permissions: ['account-register-package', 'account-view-packages', 'package-manage', 'package-view'],
    description: 'charmcraft@laptop',
    ttl: 108_000,
  });
  t.equal(issued.status, 200);
  const text = issued.body.macaroon as string;
  const { macaroon: root } = bakeryFromJson(JSON.parse(text))!;
  const [caveat] = thirdParty(root);
  t.equal(caveat?.location, `${store.url}/identity`);
  const location = `${caveat!.location!}/`;
  const id64 = caveat!.identifier.toString('base64');

  // The client adds the slash, and asks with the newest protocol it knows.
  const challenge = await discharge(store, { id64 });
  t.match(challenge, { status: 401, body: { Code: 'interaction required' } });
  const { VisitURL, WaitTokenURL } = challenge.body.Info.InteractionMethods['browser-window'] as Record<string, string>;
  const waiting = fetch(new URL(WaitTokenURL!, location));
  await logInAt(new URL(VisitURL!, location).href, { username: 'ada', password });
  const { kind, token64 } = (await (await waiting).json()) as { kind: string; token64: string };
  const value = Buffer.from(token64, 'base64');
  // Its library sends bytes as text whenever they are UTF-8.
  const response = await discharge(store, { id64, token: value.toString('utf8'), 'token-kind': kind });
  t.equal(response.status, 200);
  const { macaroon: dm } = bakeryFromJson(response.body.Macaroon)!;

  const list = `[${[root, bindForRequest(root, dm)].map((macaroon) => JSON.stringify(toJson2(macaroon))).join(',')}]`;
  const padded = Buffer.from(list).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  const exchanged = await send('POST', `${base}/v1/tokens/exchange`, { ...json, macaroons: padded }, {});
  t.equal(exchanged.status, 200);
  const authorization = { authorization: `Macaroon ${exchanged.body.macaroon as string}` };
  const whoami = await send('GET', `${base}/v1/tokens/whoami`, authorization);
  t.match(whoami.body, { account: { 'display-name': 'Ada', username: 'ada', id: store.ids.ada, email: String } });
  for (const key of ['packages', 'channels', 'permissions']) t.ok(key in whoami.body, `${key} is there, if only null`);
  t.equal((await send('GET', `${base}/v1/charm`, authorization)).status, 200);
});

/** The steps of charmcraft since 4.4 up to the discharge. */
async function sso(
  store: IdentityStore,
  credentials: object,
  body: object = {},
): Promise<{ root: DecodedMacaroon; discharged: Posted }> {
  // `urljoin` drops the last segment of the base.
  const issued = await send('POST', new URL('v1/tokens/usso', `${store.url}/publishergw`).href, json, body);
  const root = readToken(issued.body.macaroon as string)!;
  const [caveat] = thirdParty(root);
  const discharged = await send('POST', new URL('api/v2/tokens/discharge', `${store.url}/`).href, json, {
    email: 'ada@example.com',
    password,
    caveat_id: caveat?.identifier.toString('utf8'),
    ...credentials,
  });
  return { root, discharged };
}

const pair = (root: DecodedMacaroon, dm: string): string =>
  `Macaroon root=${writeBinary(root, 1).toString('base64url')}, discharge=${writeBinary(bindForRequest(root, readToken(dm)!), 1).toString('base64url')}`;

t.test('charmcraft logs in in the Ubuntu One style: 4.4 and later', async (t) => {
  const store = await startIdentity(t);
  const { root, discharged } = await sso(
    store,
    {},
    { permissions: ['package-view'], ttl: 108_000, packages: [{ type: 'charm', name: 'hello' }] },
  );
  t.equal(writeBinary(root, 1).toString('latin1', 4, 13), 'location ', 'a binary macaroon of version 1');
  const [caveat] = thirdParty(root);
  t.match(caveat?.identifier.toString('latin1'), /^[\x20-\x7e]+$/, 'the caveat is plain text');
  t.equal(caveat?.location, new URL(store.url).host);
  t.match(discharged, { status: 200, body: { discharge_macaroon: /^[\w-]+$/ } });
  const base = `${store.url}/publishergw`;
  const authorization = pair(root, discharged.body.discharge_macaroon as string);
  const exchanged = await send(
    'POST',
    `${base}/v1/tokens/usso/exchange`,
    { ...json, authorization },
    { 'client-description': 'charmcraft@laptop' },
  );
  t.equal(exchanged.status, 200);
  const token = { authorization: `Macaroon ${exchanged.body.macaroon as string}` };
  t.match((await send('GET', `${base}/v1/tokens/whoami`, token)).body, {
    permissions: ['package-view'],
    packages: [{ type: 'charm', name: 'hello' }],
  });
  t.match((await send('GET', `${base}/v1/tokens`, token)).body.macaroons, [{ description: 'charmcraft@laptop' }]);
  store.clock.advance(minutes(10));
  const late = await send('POST', `${base}/v1/tokens/usso/exchange`, { ...json, authorization }, {});
  t.match(late, { status: 401, body: { 'error-list': [{ code: 'exchange-window-expired' }] } });
});

t.test('charmcraft asks for a one-time password when required, and reports a failed login', async (t) => {
  const store = await startIdentity(t);
  const secret = await store.setTotp('ada');
  const code = () => codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  const { discharged: without } = await sso(store, {});
  t.match(without, {
    status: 401,
    body: {
      code: 'TWOFACTOR_REQUIRED',
      message: /otp required/i,
      extra: {},
      error_list: [{ code: 'twofactor-required' }],
    },
  });
  t.match((await sso(store, { otp: '000000' })).discharged, { status: 401, body: { code: 'TWOFACTOR_FAILURE' } });
  t.notMatch(
    JSON.stringify((await sso(store, { otp: '000000' })).discharged.body),
    /twofactor-required|otp required/i,
    'or it would ask again without a word',
  );
  t.equal((await sso(store, { otp: code() })).discharged.status, 200);
  t.match(
    (await sso(store, { otp: code() })).discharged,
    { status: 401, body: { code: 'TWOFACTOR_FAILURE' } },
    'each code is good once',
  );
  const wrong = {
    status: 401,
    body: { code: 'INVALID_CREDENTIALS', message: String, extra: {}, error_list: [{ code: 'invalid-credentials' }] },
  };
  t.match((await sso(store, { password: 'wrong' })).discharged, wrong, 'the password comes first');
  t.match((await sso(store, { email: 'nobody@example.com' })).discharged, wrong);
  t.match((await sso(store, { caveat_id: 'nonsense' })).discharged, {
    status: 400,
    body: { code: 'INVALID_DATA', error_list: [{ code: 'api-error' }] },
  });
  t.match((await send('POST', `${store.url}/api/v2/tokens/discharge`, json, {})).body, {
    code: 'INVALID_DATA',
    message: /required property/,
  });
  t.equal((await send('POST', `${store.url}/publishergw/api/v2/tokens/discharge`, json, {})).status, 404);
});

t.test(
  'older publishing tools use the macaroon and its discharge as they are, and refresh the discharge',
  async (t) => {
    const store = await startIdentity(t);
    const base = `${store.url}/publishergw`;
    const issued = await send('POST', `${base}/dev/api/acl/`, json, {
      permissions: ['package_access', 'package_push', 'package_release', 'package_register'],
      description: 'snapcraft@laptop',
      expires: '2026-05-01T12:00:00+00:00',
      packages: [{ series: '16', name: 'hello' }],
      channels: ['latest/edge'],
    });
    t.equal(issued.status, 200);
    const root = readToken(issued.body.macaroon as string)!;
    const [caveat] = thirdParty(root);
    t.equal(caveat?.location, new URL(store.url).host, 'the host alone, which the client compares');
    const caveat_id = caveat?.identifier.toString();
    const response = await send('POST', `${store.url}/api/v2/tokens/discharge`, json, {
      email: 'ada@example.com',
      password,
      caveat_id,
    });
    const dm = response.body.discharge_macaroon as string;
    const whoami = (discharge: string) =>
      send('GET', `${base}/v1/tokens/whoami`, { authorization: pair(root, discharge) });
    t.match(await whoami(dm), {
      status: 200,
      body: {
        account: { username: 'ada' },
        permissions: [
          'account-view-packages',
          'package-view',
          'package-manage-revisions',
          'package-view-revisions',
          'package-manage-releases',
          'package-view-releases',
          'account-register-package',
        ],
        packages: [{ type: 'snap', name: 'hello' }],
        channels: ['latest/edge'],
      },
    });
    t.match(
      (await send('GET', `${base}/v1/tokens`, { authorization: pair(root, dm) })).body.macaroons,
      [{ description: 'snapcraft@laptop', 'valid-until': '2026-05-01T12:00:00.000Z' }],
      'its session can be seen, and revoked',
    );

    store.clock.advance(days(1));
    t.match(await whoami(dm), { status: 401, body: { 'error-list': [{ code: 'macaroon-needs-refresh' }] } });
    const refreshed = await send('POST', `${store.url}/api/v2/tokens/refresh`, json, { discharge_macaroon: dm });
    t.equal(refreshed.status, 200);
    const renewed = refreshed.body.discharge_macaroon as string;
    t.equal((await whoami(renewed)).status, 200);
    const exchanged = await send(
      'POST',
      `${base}/v1/tokens/dashboard/exchange`,
      { ...json, authorization: pair(root, renewed) },
      {},
    );
    t.equal(exchanged.status, 200);
    t.equal(
      (
        await send('GET', `${base}/v1/tokens/whoami`, {
          authorization: `Macaroon ${exchanged.body.macaroon as string}`,
        })
      ).status,
      200,
    );

    store.clock.advance(hours(1));
    await store.setPassword('ada', 'another four words');
    t.match(
      await send('POST', `${store.url}/api/v2/tokens/refresh`, json, { discharge_macaroon: renewed }),
      { status: 401, body: { code: 'INVALID_CREDENTIALS' } },
      'a new password ends what was logged in with the old one',
    );
    store.clock.advance(days(90));
    t.match(
      await whoami(renewed),
      { status: 401, body: { 'error-list': [{ code: 'macaroon-authorization-required' }] } },
      'the macaroon itself has ended',
    );
  },
);

t.test('only what the identity provider made to be refreshed is refreshed', async (t) => {
  const store = await startIdentity(t);
  const { root, discharged } = await sso(store, {});
  const refresh = (text: string) =>
    send('POST', `${store.url}/api/v2/tokens/refresh`, json, { discharge_macaroon: text });
  const dm = readToken(discharged.body.discharge_macaroon as string)!;
  t.equal((await refresh(discharged.body.discharge_macaroon as string)).status, 200);
  const text = (macaroon: DecodedMacaroon): string => writeBinary(macaroon, 1).toString('base64url');
  const forged = {
    ...dm,
    caveats: dm.caveats.map((caveat) => ({
      ...caveat,
      identifier: Buffer.from(caveat.identifier.toString().replace('ada', 'bob')),
    })),
  };
  for (const [label, dischargeText] of [
    ['a bound one', text(bindForRequest(root, dm))],
    ['one of somebody else', text(forged)],
    ['one without its last condition', text({ ...dm, caveats: dm.caveats.slice(0, -1) })],
    ['the macaroon itself', text(root)],
    ['nonsense', 'nonsense'],
  ] as const) {
    t.match(await refresh(dischargeText), { status: 400, body: { code: 'INVALID_DATA', message: String } }, label);
  }
  await store.disable('ada');
  t.match(await refresh(text(dm)), { status: 401, body: { code: 'INVALID_CREDENTIALS' } });
});

t.test('the requests of the older tools are checked in their words', async (t) => {
  const store = await startIdentity(t);
  const ask = (body: object) => send('POST', `${store.url}/dev/api/acl/`, json, body);
  for (const [body, message] of [
    [{}, /'permissions' is a required property/],
    [{ permissions: ['package_destroy'] }, "'package_destroy' is no permission at /permissions"],
    [{ permissions: ['constructor'] }, "'constructor' is no permission at /permissions"],
    [{ permissions: [], expires: 'tomorrow' }, /The date is not one of RFC 3339/],
    [{ permissions: [], expires: '2026-02-30T12:00:00+00:00' }, /The date is not one of RFC 3339/],
    [{ permissions: [], expires: '2026-03-01T12:00:05+00:00' }, /within ten seconds/],
    [{ permissions: [], channels: ['no channel'] }, /not a valid channel name/],
    [{ permissions: [], packages: [{ series: '16' }] }, /at \/packages\/0/],
  ] as const) {
    const reply = await ask(body);
    t.match(reply, { status: 400, body: { error_list: [{ code: 'api-error', message }] } }, JSON.stringify(body));
    t.notOk('error-list' in reply.body);
  }
  for (const body of [
    { permissions: [], channels: null, packages: [], expires: null, description: null },
    { permissions: ['package-view'], expires: '2026-03-02T12:00:00' },
    { permissions: ['package_access'], store_ids: ['x'] },
  ]) {
    t.equal((await ask(body)).status, 200, JSON.stringify(body));
  }
});

t.test('Launchpad logs in by redirect', async (t) => {
  const back = 'https://launchpad.internal/+candid-callback';
  const store = await startIdentity(t, (text) =>
    text.replace(/^#? ?redirect_urls = .*$/m, `redirect_urls = ["${back}"]`),
  );
  const issued = await send('POST', `${store.url}/v1/tokens`, json, {
    description: 'hello for launchpad.internal',
    packages: [{ type: 'charm', name: 'hello' }],
    permissions: ['package-manage-releases', 'package-manage-revisions', 'package-view-revisions'],
  });
  // It parses the text as a raw macaroon, and wants exactly one third-party caveat at the address it was configured with.
  const { macaroon: root } = bakeryFromJson(JSON.parse(issued.body.macaroon as string))!;
  const own = thirdParty(root).filter(({ location }) => location === `${store.url}/identity`);
  t.equal(own.length, 1);
  const id64 = own[0]!.identifier.toString('base64');
  const challenge = await discharge(store, { id64 }, '2');
  t.equal(challenge.status, 401);
  t.equal(challenge.headers.get('content-type'), 'application/json');
  const { LoginURL, DischargeTokenURL } = challenge.body.Info.InteractionMethods['browser-redirect'] as Record<
    string,
    string
  >;
  const login = `${LoginURL!}?${new URLSearchParams({ return_to: back, state: 'x1y2' }).toString()}`;
  const done = await logInAt(login, { username: 'ada', password });
  const returned = new URL(done.headers.get('location') ?? '');
  t.equal(returned.searchParams.get('state'), 'x1y2');
  const token = await send('POST', DischargeTokenURL!, json, { code: returned.searchParams.get('code') });
  const { kind, value } = token.body.token as { kind: string; value: string };
  t.equal(Buffer.from(value, 'base64').toString('base64'), value);
  const response = await discharge(store, { id64, 'token-kind': kind, token64: value }, '2');
  const { macaroon: dm } = bakeryFromJson(response.body.Macaroon)!;
  const list = JSON.stringify([root, bindForRequest(root, dm)].map(toJson2));
  const exchanged = await send(
    'POST',
    `${store.url}/v1/tokens/exchange`,
    { ...json, macaroons: Buffer.from(list).toString('base64') },
    {},
  );
  const raw = exchanged.body.macaroon as string;
  t.match(await send('GET', `${store.url}/v1/tokens/whoami`, { authorization: `Macaroon ${raw}` }), {
    status: 200,
    body: { packages: [{ type: 'charm', name: 'hello' }] },
  });
});

t.test('clients in Go log in by a form', async (t) => {
  const store = await startIdentity(t);
  const issued = await send('GET', `${store.url}/v1/tokens`);
  const { macaroon: root } = bakeryFromJson(JSON.parse(issued.body.macaroon as string))!;
  // Bytes that cannot be printed go as base64url without padding.
  const id64 = thirdParty(root)[0]!.identifier.toString('base64url');
  const { url } = (await discharge(store, { id64 })).body.Info.InteractionMethods.form as { url: string };
  const shown = await send('GET', url);
  t.match(shown, {
    status: 200,
    body: {
      schema: {
        username: { description: String, type: 'string', mandatory: true },
        password: { description: String, type: 'string', mandatory: true, secret: true },
        otp: { type: 'string' },
      },
    },
  });
  const wrong = await send('POST', url, json, { form: { username: 'ada', password: 'wrong' } });
  t.match(wrong, { status: 401, body: { Code: 'permission denied', Message: /password is wrong/ } });
  t.notOk(wrong.headers.get('www-authenticate'));
  const right = await send('POST', url, json, { form: { username: 'ada', password } });
  const { kind, value } = right.body.token as { kind: string; value: string };
  const token64 = Buffer.from(value, 'base64').toString('base64url');
  const response = await discharge(store, { id64, token64, 'token-kind': kind });
  t.match(response, {
    status: 200,
    body: { Macaroon: { c: [{ i: 'declared username ada' }, { i: /^time-before / }] } },
  });
  t.match(
    await send('POST', url, json, { form: { username: 'ada', password } }),
    { status: 410 },
    'a form is good once',
  );
});

t.test('front ends of the store-api kind know by the body that a login is due', async (t) => {
  const store = await startIdentity(t);
  const reply = await send('GET', `${store.url}/v1/charm`);
  t.equal(reply.status, 401);
  t.match(reply.body, {
    Code: /macaroon/,
    Message: /discharge required/,
    'error-list': [{ code: 'macaroon-authorization-required' }],
  });
  t.notOk(
    reply.headers.get('www-authenticate'),
    'which would make them refresh, and bakery clients look for a macaroon',
  );
});
