// The guide to approvals, typed as it stands: ada proposes, bob and carol approve.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { codeAt } from '#identity/totp.ts';
import { days } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { larder } from './world.ts';

const guide = readFileSync(join(import.meta.dirname, '../../src/api/documents/guides/approvals.html'), 'utf8');
const blocks = [...guide.matchAll(/<pre><code>([^]*?)<\/code><\/pre>/g)].map(([, text = '']) => text.split('\n'));
const password = 'four pumps at the harbour, 9';

/** Bytes that an authenticator has from the secret that was typed into it (RFC 4648). */
function base32(text: string): Buffer {
  const bits = Array.from(text, (sign) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(sign).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

t.test('two people approve of a release as the guide says', async (t) => {
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
  const [people = [], config = [], policy = [], proposing = [], approving = [], releasing = []] = blocks;

  const secrets = new Map<string, Buffer>();
  for (const line of people) {
    const outcome = await (line.includes(' password ') ? run(`${line} --password-stdin`, [password]) : run(line));
    t.equal(outcome.code, 0, `${line}: ${outcome.err}`);
    const secret = /Secret: +(\w+)/.exec(outcome.out)?.[1];
    if (secret !== undefined) secrets.set(line.split(' ').at(-1) ?? '', base32(secret));
  }
  const file = join(store.directory, 'larder.toml');
  const before = readFileSync(file, 'utf8').split('[approvals]')[0] ?? '';
  writeFileSync(file, before + config.join('\n'));
  store.appliance.reload();
  await until(async () => /^releases snap\/\*:\*\/stable +2 /m.test((await run(policy[1] ?? '')).out));

  const [release = '', ...looking] = proposing;
  t.match(await run(release), {
    code: 1,
    err: /Waits for 2 more approvals \(proposal 1, .*Who may approve: bob, carol/s,
  });
  for (const line of looking) t.match(await run(line), { code: 0, out: /snap\/hello/ }, line);
  const people72 = ['bob', 'carol'];
  const code = (who: string) => codeAt(secrets.get(who) ?? Buffer.alloc(20), Math.floor(Date.now() / 30_000));
  const asPerson = (line: string, who: string) =>
    run(`${line} --as ${who} --password-stdin --one-time-password ${code(who)}`, [password]);
  t.match(await asPerson(approving[0] ?? '', 'bob'), { code: 1, err: /counts from/ }, 'three days have not gone by');
  const at = new Date(Date.now() - days(4)).toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'days' }, async (tx) => {
    for (const who of people72) await tx.accounts.touch(who, { at, by: 'cli:root', what: 'account role' });
  });
  store.clock.advance(60_000);
  // bob's code was used by the attempt that did not count; the next step's is taken as well.
  const next = codeAt(secrets.get('bob') ?? Buffer.alloc(20), Math.floor(Date.now() / 30_000) + 1);
  const bobs = await run(`${approving[0] ?? ''} --as bob --password-stdin --one-time-password ${next}`, [password]);
  t.equal(bobs.code, 0, bobs.err);
  t.equal((await asPerson(approving[1] ?? '', 'carol')).code, 0);
  for (const line of releasing) t.match(await run(line), { code: 0 }, line);
});

const bob = (id: string) => ({ id, displayName: 'Bob', validation: 'unproven', createdAt: '2026-03-01T12:00:00.000Z' });
