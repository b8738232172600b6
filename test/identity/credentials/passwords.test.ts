import t from 'tap';

import { createPasswords, passwordProblem } from '#identity/credentials/passwords.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';
import { largeTest } from '#test/fixtures/large.ts';

const long = process.env['LARDER_LONG'] === '1';
const text = 'four words of ada';

for (const algorithm of ['argon2id', 'scrypt'] as const) {
  t.test(`a password is hashed with ${algorithm}, and the hash names it`, async (t) => {
    const passwords = createPasswords({ algorithm });
    const hash = await passwords.hash(text);
    const form =
      algorithm === 'argon2id'
        ? /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/
        : /^\$scrypt\$ln=15,r=8,p=3\$/;
    t.match(hash, form);
    t.not(await passwords.hash(text), hash, 'salted anew each time');
    t.same(await passwords.verify(text, hash), { right: true, stale: false });
    for (const wrong of ['', 'Four words of ada', `${text} `, text.slice(1)]) {
      t.same(await passwords.verify(wrong, hash), { right: false, stale: false }, wrong);
    }
    t.match(await passwords.verify(text, undefined), { right: false });
  });
}

t.test('this runtime has argon2id, and it is used', async (t) => {
  t.match(await createPasswords().hash(text), /^\$argon2id\$/);
});

t.test('a hash with other parameters still verifies, and is marked for renewal', async (t) => {
  const passwords = createPasswords();
  const old = await createPasswords({ algorithm: 'scrypt' }).hash(text);
  t.same(await passwords.verify(text, old), { right: true, stale: true });
  // argon2id with one pass over 8 MiB, made by the reference implementation's rules in this runtime.
  const { argon2Sync, createHash } = await import('node:crypto');
  const message = createHash('sha512').update(text).digest();
  const nonce = Buffer.alloc(16, 1);
  const tag = argon2Sync('argon2id', { message, nonce, memory: 8192, passes: 1, parallelism: 1, tagLength: 32 });
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  const weak = `$argon2id$v=19$m=8192,t=1,p=1$${unpadded(nonce)}$${unpadded(tag)}`;
  t.same(await passwords.verify(text, weak), { right: true, stale: true });
  t.match(await passwords.verify('another', weak), { right: false });
});

t.test('an unknown hash is an internal error, and no password matches it', async (t) => {
  const passwords = createPasswords();
  for (const hash of [
    '',
    'plain',
    '$bcrypt$x$y$z',
    '$argon2id$v=19$m=1,t=x,p=1$c2FsdA$dGFn',
    '$argon2id$v=19$t=1,p=1$c2FsdA$dGFn',
  ]) {
    await t.rejects(passwords.verify(text, hash), { message: /^cannot check a password/ }, hash);
  }
});

t.test('without the pepper a hash is useless, and with it an old hash is renewed', async (t) => {
  const peppered = createPasswords({ pepper: Buffer.alloc(32, 1) });
  const hash = await peppered.hash(text);
  t.match(hash, /,keyid=[\w+/]{8}\$/);
  t.same(await peppered.verify(text, hash), { right: true, stale: false });
  t.match(await createPasswords().verify(text, hash), { right: false });
  t.match(await createPasswords({ pepper: Buffer.alloc(32, 2) }).verify(text, hash), { right: false });
  t.same(await peppered.verify(text, await createPasswords().hash(text)), { right: true, stale: true });
});

t.test('a password is the same in every Unicode composition', async (t) => {
  const passwords = createPasswords();
  const hash = await passwords.hash('caf\u00e9 on the hill');
  t.match(await passwords.verify('cafe\u0301 on the hill', hash), { right: true });
});

largeTest('two hashes are made at a time, 32 wait, and the others are told to retry', async (t) => {
  const passwords = createPasswords();
  const hash = await passwords.hash(text);
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.verify(text, hash)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.equal(refused.length, 6);
  t.match(refused[0]?.reason, { code: 'too-many-requests', status: 429, retryAfter: 2 });
  t.match(await passwords.verify(text, hash), { right: true }, 'and soon there is room again');
});

largeTest('an unknown name takes as long as a wrong password', async (t) => {
  const passwords = createPasswords();
  const hash = await passwords.hash(text);
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < (long ? 2000 : 12); round++) {
    for (const [at, storedHash] of [hash, undefined].entries()) {
      const took = cpuWatch();
      await passwords.verify(`wrong ${round}`, storedHash);
      times[at]?.push(took());
    }
  }
  const moments = times.map((list) => {
    const mean = list.reduce((sum, sample) => sum + sample, 0) / list.length;
    return {
      mean,
      variance: list.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / (list.length - 1),
      count: list.length,
    };
  });
  const [wrong, unknown] = moments;
  const welch =
    (wrong!.mean - unknown!.mean) / Math.sqrt(wrong!.variance / wrong!.count + unknown!.variance / unknown!.count);
  t.comment(`Welch's t over ${wrong!.count} each: ${welch.toFixed(2)}`);
  t.ok(Math.abs(welch) < 4.5);
});

t.test('a password that would be tried first is not taken', (t) => {
  const account = { username: 'ada', email: 'ada.lovelace@example.org', displayName: 'Augusta King' };
  const host = 'packages.harbour.internal:8443';
  for (const taken of [
    'correct staple',
    text,
    'ada-password',
    'x7#kq!9z',
    '72946183amanda61538',
    'amanda walks home',
    'larder of a baker',
    'ada walks home',
    'harbour pilots',
    'kings of larders',
    '日本語のパスワード',
    'a'.repeat(8) + 'b',
    'éèêëēėęé',
  ]) {
    t.equal(passwordProblem(taken, account, host), undefined, taken);
  }
  t.equal(passwordProblem('ab'.repeat(30) + 'c', account, host), undefined, 'long ones are welcome');
  for (const [refused, pattern] of [
    ['', /at least 8/],
    ['1234567', /at least 8/],
    ['𝒜𝒜𝒜', /at least 8/],
    ['x'.repeat(1025), /at most 1024/],
    ['with\u0000zero in it', /control characters/],
    ['12345678', /too common/],
    ['87654321', /too common/],
    ['aaaaaaaaaa', /too common/],
    ['abcabcabcabc', /too common/],
    ['qwertyuiop', /too common/],
    ['password', /too common/],
    ['P@ssw0rd!!', /too common/],
    ['Summer2026!', /too common/],
    ['123admin123', /too common/],
    ['snapcraft1', /too common/],
    ...(
      'michelle1 samantha1 babygirl1 chris1234 nicole123 q1w2e3r4t5 zaq12wsx asdf1234 aa123456 123qweasd midnight1 1234qwer ' +
      'gfhjkm123 maverick1 scooter1 trustno1trustno1 hunter2hunter2 blink182blink182 naruto123456 minecraft2020'
    )
      .split(' ')
      .map((common) => [common, /too common/] as const),
    ['ada.lovelace', /name of the account/],
    ['Ada.Lovelace@example.org', /name of the account/],
    ['ada00000', /name of the account/],
    ...(
      'adaadaada1 ada_ada_ada 4d44d44d4 lovelace1815 Lovelace!Ada augusta-king king1king2 ecalevol ' +
      'larder-larder Larder2026! larderlarder l4rd3r-st0re redral123 snap-store-1 jujucharm packages99 ' +
      'harbourharbour harbour.internal Ada@harbour ada-larder-7'
    )
      .split(' ')
      .map((made) => [made, /the account, the store or a product|too common/] as const),
  ] as const) {
    t.match(passwordProblem(refused, account, host), pattern, refused);
  }
  t.end();
});
