// Each way to log in with a password, for rules that must hold at all of them.
import { readToken } from '#macaroons/codec/text.ts';
import type { ConsoleStore } from '../console/world.ts';
import { begin, logInAt, password, postForm, waysIn } from './world.ts';

export interface Tried {
  status: number;
  /** The text of the page or of the response. */
  said: string;
}

type Way = (store: ConsoleStore, username: string, code: string) => Promise<Tried>;

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

/** An address of the store as a test reaches it. */
export function reach({ url }: Pick<ConsoleStore, 'url'>, address: string): string {
  const { pathname, search } = new URL(address);
  return url + pathname + search;
}

/** The addresses of a new login: of the page for a browser, and of the form for a terminal. */
async function methods(store: ConsoleStore): Promise<{ page: string; form: string }> {
  const { caveatId } = await begin(store);
  const { 'browser-window': page, form } = (await waysIn(store, caveatId)).InteractionMethods as Record<
    string,
    { VisitURL: string; url: string }
  >;
  return { page: reach(store, page?.VisitURL ?? ''), form: reach(store, form?.url ?? '') };
}

/** Each way to log in with a password; a page that asks for the code is answered with it, unless there is none. */
export const ways: Readonly<Record<string, Way>> = {
  'the form of the console': async (store, username, code) => {
    const visitor = store.visitor();
    const { status, text } = await visitor.logIn(username, { code });
    return { status: status === 200 && visitor.cookie === '' ? 599 : status, said: text };
  },

  'the page that tools send people to': async (store, username, code) => {
    const { status, body } = await logInAt((await methods(store)).page, { username, password });
    if (status !== 200 || !/name="code"/.test(textOf(body))) return { status, said: textOf(body) };
    if (code === '') return { status: 401, said: 'one-time password' };
    const second = await logInAt((await methods(store)).page, { username, password, code });
    return { status: second.status, said: textOf(second.body) };
  },

  'the form that a tool shows on a terminal': async (store, username, code) => {
    const reply = await fetch((await methods(store)).form, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ form: { username, password, ...(code !== '' && { otp: code }) } }),
    });
    return { status: reply.status, said: await reply.text() };
  },

  'the discharge that charmcraft asks for itself': async (store, username, code) => {
    const { macaroon } = (await store.anyone.post('/v1/tokens/usso', {})).body as { macaroon: string };
    const caveat = readToken(macaroon)?.caveats.find(({ verificationId }) => verificationId !== undefined);
    const { status, body } = await store.anyone.post('/api/v2/tokens/discharge', {
      email: `${username}@example.com`,
      password,
      caveat_id: caveat?.identifier.toString(),
      ...(code !== '' && { otp: code }),
    });
    return { status, said: textOf(body) };
  },

  'the page on which an invite is answered': async (store, username, code) => {
    const bob = await store.as('bob');
    const name = `hello-${String(Math.floor(store.clock.now.getTime() / 1000))}-${Math.random().toString(36).slice(2, 8)}`;
    await bob.post('/v1/bin', { name });
    const invites = [{ email: `${username}@example.com` }];
    const { body } = await bob.post(`/v1/bin/${name}/collaborators/invites`, { invites });
    const token = (body.tokens as { token: string }[])[0]?.token ?? '';
    const opened = await fetch(`${store.url}/identity/invite?token=${token}`, { redirect: 'manual' });
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const answered = { username, password, code, answer: 'accept' };
    const { status, body: html } = await postForm(`${store.url}/identity/invite`, answered, { cookie });
    return { status, said: textOf(html) };
  },
};
