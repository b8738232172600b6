// The world that the tests of approvals-guide.test.ts and approvals-guide.tools.test.ts share.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { codeAt } from '#identity/credentials/totp.ts';
import { days } from '#domain/clock.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { larder } from '#test/cli/world.ts';

export const password = 'four pumps at the harbour, 9';

/** ada has snap/hello, and only the guide creates the account bob. */
export async function published(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  await store.beside.records.change(
    { at: '2026-03-01T12:00:00.000Z', actor: 'test', action: 'test', object: 'bob' },
    // The store of the tests has a bob already.
    (tx) => tx.accounts.update({ ...bob(store.ids.bob), username: 'robert', email: 'robert@example.com' }),
  );
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  const run = (line: string, stdin: string[] = []) =>
    larder(`${line.replace(/^larder /, '')} --data ${store.directory}`, { stdin });
  const secrets = new Map<string, Buffer>();
  for (const line of examplesIn('approvals', 'Who approves', 1).flat()) {
    const outcome = await (line.includes(' password ') ? run(`${line} --password-stdin`, [password]) : run(line));
    if (outcome.code !== 0) throw new Error(`${line}: ${outcome.err}`);
    const secret = /Secret: +(\w+)/.exec(outcome.out)?.[1];
    if (secret !== undefined) secrets.set(line.split(' ').at(-1) ?? '', fromBase32(secret));
  }
  const configured = (config: string[]): void => {
    const file = join(store.directory, 'larder.toml');
    const before = readFileSync(file, 'utf8').split('[approvals]')[0] ?? '';
    writeFileSync(file, before + config.join('\n'));
    store.appliance.reload();
  };
  /** As if all that was done to these accounts had been done four days ago. */
  const fourDaysLater = async (): Promise<void> => {
    const at = new Date(Date.now() - days(4)).toISOString();
    await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'days' }, async (tx) => {
      for (const who of ['bob', 'carol']) await tx.accounts.touch(who, { at, by: 'cli:root', what: 'change_role' });
    });
    store.clock.advance(60_000);
  };
  const codeOf = (who: string, steps = 0) =>
    codeAt(secrets.get(who) ?? Buffer.alloc(20), Math.floor(Date.now() / 30_000) + steps);
  const asPerson = (line: string, who: string, steps = 0) =>
    run(`${line} --as ${who} --password-stdin --one-time-password ${codeOf(who, steps)}`, [password]);
  return { run, configured, fourDaysLater, asPerson };
}

export const bob = (id: string) => ({
  id,
  displayName: 'Bob',
  validation: 'unproven',
  createdAt: '2026-03-01T12:00:00.000Z',
});
