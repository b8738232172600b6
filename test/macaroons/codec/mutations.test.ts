// Altered tokens: each is refused, and no exception is thrown.
import fc from 'fast-check';
import t from 'tap';
import { readBinaryList, writeBinaryList } from '#macaroons/codec/binary.ts';
import { toJson1, toJson2 } from '#macaroons/codec/json.ts';
import {
  bindForRequest,
  mint,
  signatureMatches,
  verify,
  withFirstPartyCaveat,
  withThirdPartyCaveat,
  type Caveat,
  type DecodedMacaroon,
} from '#macaroons/codec/macaroon.ts';
import { readToken, readTokenList } from '#macaroons/codec/text.ts';
import { adasLogin, adasToken, caveatRootKey, long, met, rootKey, signedParts } from './recipes.ts';

const runs = long ? 100_000 : 800;

const { root, discharge } = adasLogin();
/** Ada's token alone, and ada's login with its discharge: both are good as they are. */
const subjects: DecodedMacaroon[][] = [[adasToken()], [root, discharge]];

const bobsLogin = withFirstPartyCaveat(mint(caveatRootKey, 'who is it?', ''), 'declared username bob');
/** Whole macaroons to mix in: other tokens of the same store, and discharges that are bound elsewhere. */
const strangers: DecodedMacaroon[] = [
  mint(rootKey, 'bob', 'https://store.example'),
  withFirstPartyCaveat(mint(rootKey, 'login', 'https://store.example'), 'session-id 7'),
  adasLogin().root,
  adasLogin().discharge,
  bindForRequest(adasLogin().root, bobsLogin),
  mint(Buffer.from('guess'), 'ada', 'https://store.example'),
];
const strangersCaveats: Caveat[] = [
  ...strangers.flatMap(({ caveats }) => caveats),
  { identifier: Buffer.from('permissions package-manage') },
  { identifier: Buffer.from('declared username bob') },
];

function accepted([primary, ...discharges]: DecodedMacaroon[]): boolean {
  if (!primary) return false;
  const whole = verify({ macaroon: primary, rootKey, discharges, check: met }).verified;
  return whole || (discharges.length === 0 && signatureMatches(primary, rootKey));
}

const sameToken = (first: DecodedMacaroon[], other: DecodedMacaroon[]): boolean =>
  JSON.stringify(first.map(signedParts)) === JSON.stringify(other.map(signedParts));

/** How a list of macaroons is written, and how it is read again. */
const forms: { write: (list: DecodedMacaroon[]) => Buffer; read: (bytes: Buffer) => DecodedMacaroon[] | undefined }[] =
  [
    { write: (list) => writeBinaryList(list, 1), read: readBinaryList },
    { write: (list) => writeBinaryList(list, 2), read: readBinaryList },
    {
      write: (list) => Buffer.from(JSON.stringify(list.map(toJson1))),
      read: (bytes) => readTokenList(bytes.toString()),
    },
    {
      write: (list) => Buffer.from(JSON.stringify(list.map(toJson2))),
      read: (bytes) => readTokenList(bytes.toString()),
    },
    {
      write: (list) => Buffer.from(Buffer.from(JSON.stringify(list.map(toJson2))).toString('base64')),
      read: (bytes) => readTokenList(bytes.toString('latin1')),
    },
    {
      write: (list) => Buffer.from(list.map((each) => writeBinaryList([each]).toString('base64url')).join(' ')),
      read: (bytes) => {
        const list = bytes.toString('latin1').split(' ').map(readToken);
        return list.every((each) => each !== undefined) ? list : undefined;
      },
    },
  ];

t.test('untouched, they verify in every form', (t) => {
  for (const subject of subjects) {
    for (const { write, read } of forms) t.equal(accepted(read(write(subject)) ?? []), true);
  }
  t.end();
});

/** A mutation of the bytes of any form; the numbers are taken modulo what there is. */
const touches = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), at: fc.nat(), byte: fc.nat(255) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), byte: fc.nat(255) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat(), length: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), length: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }) },
);

function touched(bytes: Buffer, touch: typeof touches extends fc.Arbitrary<infer Touch> ? Touch : never): Buffer {
  const at = touch.at % bytes.length;
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (touch.kind) {
    case 'flip':
      return Buffer.concat([before, Buffer.from([(bytes[at] ?? 0) ^ (1 << touch.bit)]), bytes.subarray(at + 1)]);
    case 'set':
      return Buffer.concat([before, Buffer.from([touch.byte]), bytes.subarray(at + 1)]);
    case 'insert':
      return Buffer.concat([before, Buffer.from([touch.byte]), after]);
    case 'delete':
      return Buffer.concat([before, bytes.subarray(at + touch.length)]);
    case 'repeat':
      return Buffer.concat([before, bytes.subarray(at, at + touch.length), after]);
    case 'cut':
      return before;
  }
}

t.test('a token with any changed bytes is not accepted', (t) => {
  const outcome = { unread: 0, refused: 0, unsigned: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...subjects),
      fc.constantFrom(...forms),
      fc.array(touches, { minLength: 1, maxLength: 3 }),
      (subject, { write, read }, all) => {
        const list = read(
          all.reduce((bytes, touch) => (bytes.length > 0 ? touched(bytes, touch) : bytes), write(subject)),
        );
        if (!list) {
          outcome.unread += 1;
        } else if (sameToken(list, subject)) {
          // Only what no signature covers has changed: a location, or the spelling of a form.
          outcome.unsigned += 1;
        } else {
          outcome.refused += 1;
          return !accepted(list);
        }
        return true;
      },
    ),
    { numRuns: runs / 2 },
  );
  t.comment(JSON.stringify(outcome));
  t.ok(outcome.unread > 0 && outcome.refused > 0 && outcome.unsigned > 0);
  t.end();
});

/** A mutation of the macaroons themselves. */
const rearrangements = fc.record({
  kind: fc.constantFrom(
    'drop caveat',
    'move caveat',
    'repeat caveat',
    'add caveat',
    'replace caveat',
    'make first-party',
    'make third-party',
    'take signature',
    'take identifier',
    'replace discharge',
    'add discharge',
    'drop discharge',
    'drop root',
    'reverse',
    'add link to a discharge',
    'rebind',
  ),
  at: fc.nat(),
  to: fc.nat(),
  which: fc.nat(),
});

const pick = <Value>(list: readonly Value[], at: number): Value | undefined => list[at % Math.max(list.length, 1)];

function rearranged(
  list: DecodedMacaroon[],
  change: typeof rearrangements extends fc.Arbitrary<infer Change> ? Change : never,
) {
  const index = change.which % Math.max(list.length, 1);
  const subject = list[index];
  const stranger = pick(strangers, change.to);
  if (!subject || !stranger) return list;
  const { caveats } = subject;
  const at = change.at % (caveats.length + 1);
  const caveat = caveats[at];
  const added = pick(strangersCaveats, change.to);
  const withCaveats = (other: (Caveat | undefined)[]): DecodedMacaroon[] =>
    list.with(index, { ...subject, caveats: other.filter((each) => each !== undefined) });
  switch (change.kind) {
    case 'drop caveat':
      return withCaveats(caveats.toSpliced(at, 1));
    case 'move caveat':
      return withCaveats(
        caveats.toSpliced(at, 1).toSpliced(change.to % (caveats.length + 1), 0, ...(caveat ? [caveat] : [])),
      );
    case 'repeat caveat':
      return withCaveats([...caveats, caveat]);
    case 'add caveat':
      return withCaveats([...caveats.slice(0, at), added, ...caveats.slice(at)]);
    case 'replace caveat':
      return withCaveats([...caveats.slice(0, at), added, ...caveats.slice(at + 1)]);
    case 'make first-party':
      return withCaveats(caveats.map(({ identifier }) => ({ identifier })));
    case 'make third-party':
      return withCaveats(
        caveats.map((each) => ({ location: '', verificationId: Buffer.alloc(72, change.to), ...each })),
      );
    case 'take signature':
      return list.with(index, { ...subject, signature: stranger.signature });
    case 'take identifier':
      return list.with(index, { ...subject, identifier: stranger.identifier });
    case 'replace discharge':
      return list.length > 1 ? list.with(1, stranger) : [...list, stranger];
    case 'add discharge':
      return [...list, stranger];
    case 'drop discharge':
      return list.slice(0, 1);
    case 'drop root':
      return list.slice(1);
    case 'reverse':
      return list.toReversed();
    case 'add link to a discharge': {
      // Any holder can narrow a token, but not a discharge that is bound already.
      const bound = list[1];
      return bound ? list.with(1, withFirstPartyCaveat(bound, 'declared username bob')) : list;
    }
    case 'rebind': {
      const [first, second] = list;
      return first && second ? [first, bindForRequest(first, second)] : list;
    }
  }
}

/** Whether it is an issued token, perhaps with caveats added at its end: that is no forgery. */
function narrowed([token, ...others]: DecodedMacaroon[]): boolean {
  const issued = [adasToken(), ...strangers].map((each) =>
    JSON.stringify(signedParts({ ...each, signature: nothing })),
  );
  return (
    others.length === 0 &&
    token !== undefined &&
    Array.from({ length: token.caveats.length + 1 }, (_, count) => token.caveats.slice(0, count)).some((caveats) =>
      issued.includes(JSON.stringify(signedParts({ ...token, caveats, signature: nothing }))),
    )
  );
}

const nothing = Buffer.alloc(0);

t.test('any recombination of the parts of tokens is not accepted', (t) => {
  const outcome = { unread: 0, refused: 0, unchanged: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...subjects),
      fc.array(rearrangements, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...forms),
      (subject, changes, { write, read }) => {
        const changed = changes.reduce(rearranged, subject);
        const list = changed.length > 0 ? read(write(changed)) : undefined;
        if (!list) {
          outcome.unread += 1;
        } else if (sameToken(list, subject)) {
          outcome.unchanged += 1;
        } else if (accepted(list) && !narrowed(list)) {
          return false;
        } else {
          outcome.refused += 1;
        }
        return true;
      },
    ),
    { numRuns: runs / 2 },
  );
  t.comment(JSON.stringify(outcome));
  t.ok(outcome.refused > runs / 4);
  t.end();
});

t.test('narrowing is the only change that a holder may make', (t) => {
  const [token] = subjects[0] ?? [];
  if (!token) return t.fail('there is no token');
  t.equal(accepted([withFirstPartyCaveat(token, 'time-before 2030-01-01T00:00:00Z')]), true);
  const restricted = withThirdPartyCaveat(token, { caveatRootKey, identifier: 'who is it?', location: '' });
  t.equal(accepted([restricted]), false, 'but what asks for a discharge needs one');
  t.equal(accepted([restricted, bindForRequest(restricted, bobsLogin)]), true);
  t.end();
});
