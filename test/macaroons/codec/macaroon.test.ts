import { createHmac } from 'node:crypto';
import t from 'tap';
import {
  bindForRequest,
  conditionsOf,
  limits,
  mint,
  signatureMatches,
  verify,
  withFirstPartyCaveat,
  withThirdPartyCaveat,
  type DecodedMacaroon,
  type Met,
  type Origin,
  type VerifyRequest,
} from '#macaroons/codec/macaroon.ts';
import { adasLogin, adasToken, caveatRootKey, met, rootKey } from './recipes.ts';

const hex = (macaroon: DecodedMacaroon): string => macaroon.signature.toString('hex');
const never = (): Met => {
  throw new Error('no condition may be checked');
};

t.test('a macaroon bears the signatures that libmacaroons published', (t) => {
  const key = Buffer.from('this is our super secret key; only we should know it');
  const macaroon = mint(key, 'we used our secret key', 'http://mybank/');
  t.equal(hex(macaroon), 'e3d9e02908526c4c0039ae15114115d97fdd68bf2ba379b342aaf0f617d0552f');
  t.equal(
    hex(withFirstPartyCaveat(macaroon, 'test = caveat')),
    '197bac7a044af33332865b9266e26d493bdd668a660e44d88ce1a998c23dbd67',
  );
  t.end();
});

t.test('a third-party caveat and its bound discharge bear the signatures that libmacaroons published', (t) => {
  const key = Buffer.from('this is a different super-secret key; never use the same secret twice');
  const caveatKey = Buffer.from('4; guaranteed random by a fair toss of the dice');
  const plain = mint(key, 'we used our other secret key', 'http://mybank/');
  const narrowed = withFirstPartyCaveat(plain, 'account = 3735928559');
  t.equal(hex(narrowed), '1434e674ad84fdfdc9bc1aa00785325c8b6d57341fc7ce200ba4680c80786dda');
  const identifier = 'this was how we remind auth of key/pred';
  const root = withThirdPartyCaveat(narrowed, {
    caveatRootKey: caveatKey,
    identifier,
    location: 'http://auth.mybank/',
    nonce: Buffer.alloc(24),
  });
  t.equal(hex(root), 'd27db2fd1f22760e4c3dae8137e2d8fc1df6c0741c18aed4b97256bf78d1f55c');
  const discharge = withFirstPartyCaveat(mint(caveatKey, identifier, 'http://auth.mybank/'), 'time < 2015-01-01T00:00');
  const bound = bindForRequest(root, discharge);
  t.equal(hex(bound), '2eb01d0dd2b4475330739140188648cf25dda0425ea9f661f1574ca0a9eac54e');
  t.match(verify({ macaroon: root, rootKey: key, discharges: [bound], check: met }), { verified: true });
  t.end();
});

t.test('narrowing a macaroon leaves the wider one unchanged', (t) => {
  const wide = mint(rootKey, 'ada', '');
  const before = hex(wide);
  withFirstPartyCaveat(wide, 'time-before 2031-01-01T00:00:00Z');
  withThirdPartyCaveat(wide, { caveatRootKey, identifier: 'x', location: '' });
  t.equal(hex(wide), before);
  t.same(wide.caveats, []);
  t.end();
});

t.test('every condition is checked with its place, the primary first', (t) => {
  const { root, discharge } = adasLogin();
  const seen: [string, Origin][] = [];
  const check = (condition: string, from: Origin): Met => {
    seen.push([condition, from]);
    return { met: true };
  };
  const proof = verify({ macaroon: root, rootKey, discharges: [discharge], check });
  const identifier = Buffer.from('who is it?');
  t.same(seen, [
    ['session-id 7', 'primary'],
    ['declared username ada', identifier],
  ]);
  t.same(proof, { verified: true, conditions: seen.map(([condition, from]) => ({ condition, from })) });
  t.end();
});

t.test('no condition is checked before every signature is known to be good', (t) => {
  const { root, discharge } = adasLogin();
  const token = adasToken();
  const forged = { ...discharge, caveats: [{ identifier: Buffer.from('declared username bob') }] };
  const requests: Record<string, Omit<VerifyRequest, 'check'>> = {
    'another root key': { macaroon: token, rootKey: Buffer.from('guess') },
    'no root key': { macaroon: token, rootKey: Buffer.alloc(0) },
    'a caveat dropped': { macaroon: { ...token, caveats: token.caveats.slice(1) }, rootKey },
    'a caveat added without its link': {
      macaroon: { ...token, caveats: [...token.caveats, { identifier: Buffer.from('declared username bob') }] },
      rootKey,
    },
    'a signature cut short': { macaroon: { ...token, signature: token.signature.subarray(0, 31) }, rootKey },
    'a forged discharge': { macaroon: root, rootKey, discharges: [forged] },
    'no discharge': { macaroon: root, rootKey },
  };
  for (const [name, request] of Object.entries(requests)) {
    const seen: string[] = [];
    const check = (condition: string): Met => {
      seen.push(condition);
      return { met: true };
    };
    t.match(verify({ ...request, check }), { verified: false, failed: /signature|discharges|limits/ }, name);
    t.same(seen, []);
  }
  t.end();
});

t.test('a checker that returns anything but { met: true } counts as not met', (t) => {
  const answers: unknown[] = [
    undefined,
    null,
    false,
    true,
    0,
    '',
    'ok',
    {},
    [],
    { met: false },
    { met: 'true' },
    { met: 1 },
    Promise.resolve({ met: true }),
    () => ({ met: true }),
  ];
  for (const answer of answers) {
    const proof = verify({ macaroon: adasToken(), rootKey, check: () => answer as Met });
    t.match(proof, { verified: false, failed: 'condition', from: 'primary' }, typeof answer);
  }
  t.match(verify({ macaroon: adasToken(), rootKey, check: never }), { verified: false, failed: 'condition' });
  t.end();
});

t.test('an unmet condition is refused with the reason of the checker and its place', (t) => {
  const { root, discharge } = adasLogin();
  const check = (condition: string): Met =>
    condition.startsWith('declared') ? { met: false, reason: 'Nobody of that name.' } : { met: true };
  t.same(verify({ macaroon: root, rootKey, discharges: [discharge], check }), {
    verified: false,
    failed: 'condition',
    reason: 'Nobody of that name.',
    from: Buffer.from('who is it?'),
  });
  t.end();
});

t.test('a condition that is not UTF-8 is not met and reaches no checker', (t) => {
  const odd = withThirdPartyCaveat(mint(rootKey, 'ada', ''), { caveatRootKey, identifier: 'x', location: '' });
  const discharge = mint(caveatRootKey, 'x', '');
  const broken = chained(discharge, Buffer.from([0x66, 0xff]));
  const bound = bindForRequest(odd, broken);
  t.match(verify({ macaroon: odd, rootKey, discharges: [bound], check: never }), {
    verified: false,
    failed: 'condition',
    reason: 'A condition is not UTF-8 text.',
  });
  t.end();
});

t.test('a byte-order mark in a condition is part of it', (t) => {
  const macaroon = withFirstPartyCaveat(mint(rootKey, 'ada', ''), '\ufefftime-before');
  t.match(verify({ macaroon, rootKey, check: met }), { conditions: [{ condition: '\ufefftime-before' }] });
  t.end();
});

t.test('a discharge counts only bound to its root, once, and when a caveat asks for it', (t) => {
  const { root, discharge } = adasLogin();
  const unbound = withFirstPartyCaveat(mint(caveatRootKey, 'who is it?', ''), 'declared username ada');
  const otherKey = bindForRequest(root, mint(Buffer.from('guess'), 'who is it?', ''));
  const other = bindForRequest(root, mint(caveatRootKey, 'who else?', ''));
  const outcome = (discharges: DecodedMacaroon[]): unknown =>
    verify({ macaroon: root, rootKey, discharges, check: met }).verified;
  t.equal(outcome([discharge]), true, 'as it should be');
  t.equal(outcome([unbound]), false, 'unbound');
  t.equal(outcome([bindForRequest(adasLogin().root, unbound)]), false, 'bound to another root');
  t.equal(outcome([otherKey]), false, 'made with another key');
  t.equal(outcome([other]), false, 'for another caveat');
  t.equal(outcome([discharge, other]), false, 'one too many');
  t.equal(outcome([discharge, discharge]), false, 'the same twice');
  t.equal(outcome([root]), false, 'the root itself');
  t.equal(verify({ macaroon: adasToken(), rootKey, discharges: [discharge], check: met }).verified, false, 'unasked');
  t.end();
});

t.test('one discharge cannot answer two caveats', (t) => {
  const caveat = { caveatRootKey, identifier: 'who is it?', location: '' };
  const root = withThirdPartyCaveat(withThirdPartyCaveat(mint(rootKey, 'ada', ''), caveat), caveat);
  const discharge = bindForRequest(root, mint(caveatRootKey, 'who is it?', ''));
  for (const discharges of [[discharge], [discharge, discharge]]) {
    t.match(verify({ macaroon: root, rootKey, discharges, check: met }), { verified: false, failed: 'discharges' });
  }
  t.end();
});

t.test('discharges may be nested two deep and no deeper, and not in a circle', (t) => {
  const asking = (macaroon: DecodedMacaroon, identifier: string): DecodedMacaroon =>
    withThirdPartyCaveat(macaroon, { caveatRootKey, identifier, location: '' });
  const root = asking(mint(rootKey, 'ada', ''), 'one');
  const nested = (...discharges: DecodedMacaroon[]): unknown =>
    verify({
      macaroon: root,
      rootKey,
      discharges: discharges.map((discharge) => bindForRequest(root, discharge)),
      check: met,
    }).verified;
  const first = asking(mint(caveatRootKey, 'one', ''), 'two');
  const two = mint(caveatRootKey, 'two', '');
  t.equal(nested(first, two), true);
  t.equal(nested(two, first), true, 'in either order');
  t.equal(nested(first, asking(two, 'three'), mint(caveatRootKey, 'three', '')), false, 'three deep');
  t.equal(nested(first, asking(two, 'one')), false, 'in a circle');
  t.equal(nested(asking(mint(caveatRootKey, 'one', ''), 'one')), false, 'answering itself');
  t.end();
});

t.test('the check of every request takes a first-party macaroon that is whole, and nothing else', (t) => {
  const token = adasToken();
  t.equal(signatureMatches(token, rootKey), true);
  t.equal(signatureMatches(token, Buffer.from('guess')), false);
  t.equal(signatureMatches(token, Buffer.alloc(0)), false);
  t.equal(signatureMatches({ ...token, caveats: token.caveats.toReversed() }, rootKey), false);
  t.equal(signatureMatches({ ...token, signature: Buffer.alloc(0) }, rootKey), false);
  const { root } = adasLogin();
  t.equal(signatureMatches(root, rootKey), false, 'third-party caveats fail closed');
  const [first, ...rest] = token.caveats;
  const odd = [{ identifier: first?.identifier ?? Buffer.alloc(0), location: 'https://store.example' }, ...rest];
  t.equal(signatureMatches({ ...token, caveats: odd }, rootKey), false, 'and so does a place in a first-party one');
  t.end();
});

t.test('the conditions of a first-party macaroon can be had as text, or not at all', (t) => {
  t.same(conditionsOf(adasToken()), [
    'time-before 2031-01-01T00:00:00Z',
    'session-id 0b5e',
    'permissions package-view',
  ]);
  t.same(conditionsOf(mint(rootKey, 'ada', '')), []);
  t.equal(conditionsOf(adasLogin().root), undefined, 'with a third-party caveat');
  t.equal(conditionsOf(chained(adasToken(), Buffer.from([0xff]))), undefined, 'with a condition that is not UTF-8');
  t.end();
});

t.test('more than the limits allow is not verified', (t) => {
  const large = Buffer.alloc(limits.field + 1, 'a');
  const token = adasToken();
  const caveats = Array.from({ length: limits.caveats + 1 }, () => ({ identifier: Buffer.from('a') }));
  const discharges = Array.from({ length: limits.discharges + 1 }, (_, n) => mint(caveatRootKey, `${n}`, ''));
  const requests: Omit<VerifyRequest, 'check' | 'rootKey'>[] = [
    { macaroon: { ...token, caveats } },
    { macaroon: { ...token, identifier: large } },
    { macaroon: { ...token, location: large.toString() } },
    { macaroon: { ...token, caveats: [{ identifier: large }] } },
    { macaroon: token, discharges },
  ];
  for (const request of requests) {
    t.match(verify({ ...request, rootKey, check: never }), { verified: false, failed: 'limits' });
  }
  t.equal(signatureMatches({ ...token, caveats }, rootKey), false);
  t.end();
});

t.test('a macaroon that could not be read again cannot be made', (t) => {
  const token = adasToken();
  const large = 'a'.repeat(limits.field + 1);
  t.throws(() => mint(Buffer.alloc(0), 'ada', ''), /^cannot mint/);
  t.throws(() => mint(rootKey, '', ''), /^cannot make/);
  t.throws(() => mint(rootKey, 'ada', large), /^cannot make/);
  t.throws(() => withFirstPartyCaveat(token, ''), /^cannot make/);
  t.throws(() => withFirstPartyCaveat(token, large), /^cannot make/);
  t.throws(() => withFirstPartyCaveat(token, '\ud800'), /^cannot sign/);
  const full = Array.from({ length: limits.caveats }, (_, n) => `c ${n}`).reduce(
    withFirstPartyCaveat,
    mint(rootKey, 'ada', ''),
  );
  t.equal(verify({ macaroon: full, rootKey, check: met }).verified, true);
  t.throws(() => withFirstPartyCaveat(full, 'one more'), /^cannot make/);
  const keyless = { caveatRootKey: Buffer.alloc(0), identifier: 'x', location: '' };
  t.throws(() => withThirdPartyCaveat(token, keyless), /^cannot add/);
  t.end();
});

/** A macaroon with a first-party caveat of any bytes, as any holder can add it. */
function chained(macaroon: DecodedMacaroon, identifier: Buffer): DecodedMacaroon {
  const signature = createHmac('sha256', macaroon.signature).update(identifier).digest();
  return { ...macaroon, caveats: [...macaroon.caveats, { identifier }], signature };
}
