// The places of a store that is served by processes of their own.
import { timestamp } from '#domain/clock.ts';
import { openStore } from '#data/store.ts';
import { sitePasswords } from '#identity/identity.ts';
import { browse } from '#test/console/world.ts';
import { ask } from '#test/fixtures/processes/workers.ts';
import { writable } from '#test/fixtures/records/writable.ts';
import { password } from '#test/identity/world.ts';
import { messagesIn, type Places } from './places.ts';

interface Served {
  data: string;
  url: string;
  log(): string;
}

const administrator = 'larder-admin';

/** Its administrator is logged in to the console from the beginning on. */
export async function placesOfProcesses({ data, url, log }: Served): Promise<Places> {
  const store = writable(await openStore({ directory: data }));
  const { username } = (await store.records.accounts.find(administrator))!;
  const at = timestamp(new Date());
  const hash = await sitePasswords(store.siteKey).hash(password);
  const entry = { at, actor: 'test', action: 'test', object: `account/${administrator}` };
  await store.records.change(entry, (tx) => tx.passwords.set(administrator, hash, at));
  const visitor = browse(url, store.config.http.base_url);
  await store.close();
  const { status, text } = await visitor.logIn(username);
  if (status !== 200) throw new Error(`cannot log in: ${text}`);
  return {
    directory: data,
    ask: async (path) => (await ask(url, path)).text,
    console: async () => (await visitor.open('/console')).text,
    log: () => messagesIn(log()),
  };
}
