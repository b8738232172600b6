import { randomBytes } from 'node:crypto';

import fc from 'fast-check';
import t from 'tap';

import { seal, unseal } from '#macaroons/sealing.ts';

const key = randomBytes(32);

t.test('a sealed value is opened again, with the same key and for the same purpose', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (secret, purpose) => {
      const sealed = seal(key, Buffer.from(secret), purpose);
      t.match(sealed, /^1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
      t.same(unseal(key, sealed, purpose), Buffer.from(secret));
      t.throws(() => unseal(key, sealed, `${purpose}x`), /^cannot open|cannot open the/);
      t.throws(() => unseal(randomBytes(32), sealed, purpose), /sealed with another site key, or it is corrupt/);
    }),
    { numRuns: 50 },
  );
  t.not(seal(key, Buffer.from('x'), 'p'), seal(key, Buffer.from('x'), 'p'), 'no two are alike');
  t.end();
});

t.test('an altered value is not opened, and the error contains none of it', (t) => {
  const secret = Buffer.from('a secret of some length');
  const sealed = seal(key, secret, 'a purpose');
  for (let at = 0; at < sealed.length; at++) {
    for (const letter of ['A', '_', '.']) {
      const altered = sealed.slice(0, at) + letter + sealed.slice(at + 1);
      if (
        Buffer.from(altered.split('.')[2] ?? '', 'base64url').equals(
          Buffer.from(sealed.split('.')[2] ?? '', 'base64url'),
        ) &&
        altered.split('.')[1] === sealed.split('.')[1] &&
        altered.startsWith('1.')
      )
        continue;
      try {
        unseal(key, altered, 'a purpose');
        t.fail(`opened with another letter at ${at}`);
      } catch (error) {
        t.match((error as Error).message, /^cannot open the a purpose: it was sealed (?:with another|by a newer)/);
        t.notMatch((error as Error).message, 'secret of');
      }
    }
  }
  for (const text of ['', '1', '1.', '1..', '1.AAAA.', '2.AAAA.AAAA', 'nonsense']) {
    t.throws(() => unseal(key, text, 'a purpose'), /^(?:Error: )?cannot open/, text);
  }
  t.end();
});
