import t from 'tap';

import { codeAt, newTotpSecret, stepOf, totpAddress } from '#identity/credentials/totp.ts';

/** RFC 6238, appendix B: the last six of the eight digits. */
const vectors: [number, string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
];
const secret = Buffer.from('12345678901234567890');
const at = (seconds: number): Date => new Date(seconds * 1000);

t.test('codes are those of RFC 6238', (t) => {
  for (const [seconds, code] of vectors) {
    t.equal(codeAt(secret, Math.floor(seconds / 30)), code);
    t.equal(stepOf(secret, code, at(seconds)), Math.floor(seconds / 30));
  }
  t.end();
});

t.test('a code is taken one step early or late, and no further', (t) => {
  const now = at(1234567890);
  const step = Math.floor(1234567890 / 30);
  for (const off of [-1, 0, 1]) t.equal(stepOf(secret, codeAt(secret, step + off), now), step + off);
  for (const off of [-3, -2, 2, 3]) t.equal(stepOf(secret, codeAt(secret, step + off), now), undefined);
  t.end();
});

t.test('blanks and dashes between the digits do no harm, anything else is no code', (t) => {
  const now = at(59);
  t.equal(stepOf(secret, ' 287 082', now), 1);
  t.equal(stepOf(secret, '287-082', now), 1);
  for (const wrong of ['', '28708', '2870820', '28708a', '٢٨٧٠٨٢', '000000'])
    t.equal(stepOf(secret, wrong, now), undefined, wrong);
  t.end();
});

t.test('the secret is shown as authenticators take it', (t) => {
  t.same(totpAddress(secret, 'ada', 'store.internal:8080'), {
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    address:
      'otpauth://totp/store.internal%3A8080:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=store.internal%3A8080',
  });
  t.equal(newTotpSecret().length, 20);
  t.end();
});
