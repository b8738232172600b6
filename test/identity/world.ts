// A store with its identity provider, people who have passwords, and clients that log in as the official ones do.

import { bakeryFromJson } from '#macaroons/codec/bakery.ts';
import { bindForRequest, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { toJson2 } from '#macaroons/codec/json.ts';
import { sitePasswords } from '#identity/identity.ts';
import { setUpDigest, totpPurpose } from '#identity/login/logins.ts';
import { newTotpSecret } from '#identity/credentials/totp.ts';
import { seal } from '#macaroons/sealing.ts';
import { useCheapPasswords } from '#test/fixtures/accounts/cheap-passwords.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { freePort } from '#test/fixtures/free-port.ts';

type Test = Parameters<typeof startStore>[0];

export const password = 'four words of ada';

export interface IdentityStore extends TestAppliance {
  /** Gives an account a password. */
  setPassword(person: string, text?: string): Promise<void>;
  /** Turns on one-time passwords for an account; returns the secret. */
  setTotp(person: string): Promise<Buffer>;
  /** A link to set the own password; returns its secret. */
  invite(person: string, until: Date): Promise<string>;
  disable(person: string): Promise<void>;
}

/** Each link has a secret of its own. */
let links = 0;

/** A store that is reached under its own base URL, as outside of tests; ada has a password. */
export function startIdentity(t: Test, ...how: How): Promise<IdentityStore> {
  useCheapPasswords();
  return startWithRealPasswords(t, ...how);
}

/** How a store is started, as for `startStore`. */
export type How = Parameters<typeof startStore> extends [Test, ...infer Rest] ? Rest : never;

/** The same for a store that other processes serve too: they do not know cheap passwords. */
export async function startWithRealPasswords(
  t: Test,
  ...[configure = (text: string) => text, ...how]: How
): Promise<IdentityStore> {
  const port = await freePort();
  const configured = (text: string): string =>
    configure(
      text.replace('http://127.0.0.1:8080', `http://127.0.0.1:${port}`).replace('"127.0.0.1:0"', `"127.0.0.1:${port}"`),
    );
  const store = await startStore(t, configured, ...how);
  const { records, siteKey } = store.beside;
  const passwords = sitePasswords(siteKey);
  const entry = () => ({ at: store.clock.now.toISOString(), actor: 'test', action: 'test', object: 'account' });
  const idOf = (person: string): string => store.ids[person] ?? person;
  const world: IdentityStore = Object.assign(store, {
    async setPassword(person: string, text: string = password) {
      const hash = await passwords.hash(text);
      await records.change(entry(), (tx) => tx.passwords.set(idOf(person), hash, store.clock.now.toISOString()));
    },
    async setTotp(person: string) {
      const secret = newTotpSecret();
      const sealed = seal(siteKey, secret, totpPurpose(idOf(person)));
      await records.change(entry(), (tx) => tx.totpSecrets.set(idOf(person), sealed, store.clock.now.toISOString()));
      return secret;
    },
    async invite(person: string, until: Date) {
      const secret = `${'x'.repeat(35)}${String(++links).padStart(8, '0')}`;
      await records.change(entry(), (tx) => tx.setUpLinks.set(idOf(person), setUpDigest(secret), until.toISOString()));
      return secret;
    },
    async disable(person: string) {
      await records.change(entry(), (tx) => tx.accounts.disable(idOf(person), store.clock.now.toISOString()));
    },
  });
  await world.setPassword('ada');
  return world;
}

/** A login that a client has begun. */
export interface Begun {
  /** The JSON text of the root. */
  text: string;
  root: DecodedMacaroon;
  caveatId: Buffer;
}

export async function begin(store: TestAppliance, body: object = {}, path = '/v1/tokens'): Promise<Begun> {
  const reply = await store.anyone.post(path, body);
  if (reply.status !== 200) throw new Error(`cannot begin: ${reply.status} ${JSON.stringify(reply.body)}`);
  const { macaroon: text } = reply.body as { macaroon: string };
  const { macaroon: root } = bakeryFromJson(JSON.parse(text))!;
  return { text, root, caveatId: root.caveats.find(({ verificationId }) => verificationId)!.identifier };
}

export interface Posted {
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  body: any;
}

/** Posts a form like a browser or program that follows links within the same site, but to no other site. */
export async function postForm(
  url: string,
  members: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const posted = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(members), redirect: 'manual' });
  const next = posted.headers.get('location');
  const reply = posted.status === 303 && next?.startsWith('/') === true ? await fetch(new URL(next, url)) : posted;
  const text = await reply.text();
  const isJson = reply.headers.get('content-type') === 'application/json';
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text };
}

export const discharge = (store: TestAppliance, members: Record<string, string>, version = '3'): Promise<Posted> =>
  postForm(`${store.url}/identity/discharge`, members, version === '' ? {} : { 'bakery-protocol-version': version });

/** The ways to log in that the identity provider offers for a caveat. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
export async function waysIn(store: TestAppliance, caveatId: Buffer): Promise<any> {
  return (await discharge(store, { id64: caveatId.toString('base64') })).body.Info;
}

/** Fills in the login page at an address, as a browser without JavaScript does; the last page. */
export async function logInAt(
  visit: string,
  fields: { username: string; password: string; code?: string },
): Promise<Posted> {
  const shown = await (await fetch(visit)).text();
  const did = /name="did" value="([^"]+)"/.exec(shown)?.[1] ?? '';
  const action = /<form method="post" action="([^"]+)"/.exec(shown)?.[1] ?? '';
  const { code, ...first } = fields;
  const reply = await postForm(new URL(action, visit).href, { did, ...first });
  if (code === undefined) return reply;
  const second = /<form method="post" action="([^"]+)"/.exec(String(reply.body))?.[1] ?? '';
  return postForm(new URL(second, visit).href, { did, code });
}

/** The discharge of a login's caveat, got through the login page. */
export async function dischargeInBrowser(
  store: TestAppliance,
  caveatId: Buffer,
  fields: { username: string; password: string } = { username: 'ada', password },
): Promise<DecodedMacaroon> {
  const info = await waysIn(store, caveatId);
  const window = info.InteractionMethods['browser-window'] as { VisitURL: string; WaitTokenURL: string };
  const waiting = fetch(window.WaitTokenURL);
  const page = await logInAt(window.VisitURL, fields);
  if (page.status !== 200) throw new Error(`cannot log in: ${page.status} ${String(page.body)}`);
  const { kind, token64 } = (await (await waiting).json()) as { kind: string; token64: string };
  const { status, body } = await discharge(store, { id64: caveatId.toString('base64'), token64, 'token-kind': kind });
  if (status !== 200) throw new Error(`cannot discharge: ${status} ${JSON.stringify(body)}`);
  return bakeryFromJson(body.Macaroon)!.macaroon;
}

/** The content of the `Macaroons` header: the root and its bound discharge as JSON. */
export const macaroonList = (root: DecodedMacaroon, ...discharges: DecodedMacaroon[]): string =>
  JSON.stringify([root, ...discharges.map((macaroon) => bindForRequest(root, macaroon))].map(toJson2));

/** From the first request to the token, as a client with a browser. */
export async function logIn(
  store: TestAppliance,
  body: object = {},
  fields?: { username: string; password: string },
): Promise<string> {
  const { root, caveatId } = await begin(store, body);
  const bound = macaroonList(root, await dischargeInBrowser(store, caveatId, fields));
  const reply = await exchange(store, Buffer.from(bound).toString('base64url'));
  if (reply.status !== 200) throw new Error(`cannot exchange: ${reply.status} ${JSON.stringify(reply.body)}`);
  return (reply.body as { macaroon: string }).macaroon;
}

export const exchange = (store: TestAppliance, header: string): Promise<Posted> =>
  store.anyone.post('/v1/tokens/exchange', {}, { macaroons: header });
