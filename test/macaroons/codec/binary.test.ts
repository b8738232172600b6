import fc from 'fast-check';
import t from 'tap';
import { readBinary, readBinaryList, writeBinary, writeBinaryList } from '#macaroons/codec/binary.ts';
import { limits, mint, verify, withFirstPartyCaveat, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { adasLogin, adasToken, cooked, long, met, recipes, rootKey } from './recipes.ts';

const read = (...parts: (string | number[])[]): DecodedMacaroon | undefined =>
  readBinary(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)))));

t.test('both versions are written as libmacaroons published them', (t) => {
  const key = Buffer.from('this is our super secret key; only we should know it');
  const macaroon = mint(key, 'we used our secret key', 'http://mybank/');
  t.equal(
    writeBinary(macaroon, 1).toString('base64url'),
    'MDAxY2xvY2F0aW9uIGh0dHA6Ly9teWJhbmsvCjAwMjZpZGVudGlmaWVyIHdlIHVzZWQgb3VyIHNlY3JldCBrZXkK' +
      'MDAyZnNpZ25hdHVyZSDj2eApCFJsTAA5rhURQRXZf91ovyujebNCqvD2F9BVLwo',
  );
  const account = ['account = 3735928559'].reduce(
    withFirstPartyCaveat,
    mint(Buffer.from('this is the key'), 'keyid', 'http://example.org/'),
  );
  t.equal(
    writeBinary(account).toString('base64url'),
    'AgETaHR0cDovL2V4YW1wbGUub3JnLwIFa2V5aWQAAhRhY2NvdW50ID0gMzczNTkyODU1OQAABiD1SAf23G7fiL8PcwazgiVio2JTPb9zObphdl2kvSWdhw',
  );
  t.end();
});

t.test('the published tokens of libmacaroons are read and verified', (t) => {
  const account = 'account = 3735928559';
  const user = 'user = alice';
  const tokens: [string, string[]][] = [
    [
      'MDAyMWxvY2F0aW9uIGh0dHA6Ly9leGFtcGxlLm9yZy8KMDAxNWlkZW50aWZpZXIga2V5aWQKMDAxZGNpZCBhY2NvdW50ID0gMzczNTkyODU1OQow' +
        'MDJmc2lnbmF0dXJlIPVIB_bcbt-Ivw9zBrOCJWKjYlM9v3M5umF2XaS9JZ2HCg',
      [account],
    ],
    ['AgETaHR0cDovL2V4YW1wbGUub3JnLwIFa2V5aWQAAAYgfN7nklEcW8b1KEhYBd_psk54XijiqZMB-dcRxgnjjvc', []],
    [
      'AgETaHR0cDovL2V4YW1wbGUub3JnLwIFa2V5aWQAAhRhY2NvdW50ID0gMzczNTkyODU1OQACDHVzZXIgPSBhbGljZQAABiBL6WfNHqDGsmuvakqU' +
        '7psFsViG2guoXoxCqTyNDhJe_A',
      [account, user],
    ],
  ];
  for (const [token, conditions] of tokens) {
    const macaroon = readBinary(Buffer.from(token, 'base64url'));
    t.equal(macaroon?.location, 'http://example.org/');
    if (!macaroon) continue;
    t.same(verify({ macaroon, rootKey: Buffer.from('this is the key'), check: met }), {
      verified: true,
      conditions: conditions.map((condition) => ({ condition, from: 'primary' })),
    });
    t.equal(verify({ macaroon, rootKey: Buffer.from('this is not the key'), check: met }).verified, false);
  }
  t.end();
});

t.test('a macaroon in either version is read back unchanged, alone and in a row', (t) => {
  fc.assert(
    fc.property(recipes(), fc.constantFrom(1 as const, 2 as const), (recipe, version) => {
      const { root, discharges } = cooked(recipe);
      const all = [root, ...discharges];
      t.strictSame(readBinary(writeBinary(root, version)), root);
      t.strictSame(readBinaryList(writeBinaryList(all, version)), all);
      const mixed = Buffer.concat(all.map((macaroon, n) => writeBinary(macaroon, n % 2 === 0 ? 1 : 2)));
      t.strictSame(readBinaryList(mixed), all);
      t.equal(verify({ macaroon: root, rootKey: recipe.rootKey, discharges, check: met }).verified, true);
    }),
    { numRuns: long ? 5_000 : 100 },
  );
  t.end();
});

t.test('nothing short of a whole macaroon is read, and nothing beyond it', (t) => {
  const { root } = adasLogin();
  for (const version of [1, 2] as const) {
    const whole = writeBinary(root, version);
    t.ok(readBinary(whole));
    for (let length = 0; length < whole.length; length += 1) {
      if (readBinary(whole.subarray(0, length))) t.fail(`version ${version} cut to ${length} bytes was read`);
    }
    for (const extra of ['\0', '\n', ' ', 'a']) t.notOk(readBinary(Buffer.concat([whole, Buffer.from(extra)])), extra);
    t.notOk(readBinary(Buffer.concat([whole, whole])), 'two are not one');
    t.notOk(readBinaryList(Buffer.concat([whole, Buffer.from('\0')])));
  }
  t.notOk(readBinaryList(Buffer.alloc(0)));
  t.end();
});

t.test('any bytes at all are refused without an exception', (t) => {
  const starts = fc.constantFrom([], [2], [2, 2, 1, 0x61, 0], [0x30, 0x30], [...Buffer.from('000dlocation \n')]);
  fc.assert(
    fc.property(starts, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
      t.notOk(readBinaryList(Buffer.from([...start, ...rest])));
    }),
    { numRuns: long ? 50_000 : 500 },
  );
  t.end();
});

const signature = [6, 32, ...Buffer.alloc(32)];

t.test('version 2 has its fields in order, once, with lengths in their shortest spelling', (t) => {
  t.ok(read([2, 2, 1, 0x61, 0, 0], signature), 'the least there can be');
  t.ok(read([2, 1, 0, 2, 1, 0x61, 0, 0], signature), 'an empty location is none');
  t.ok(read([2, 2, 1, 0x61, 0, 1, 0, 2, 1, 0x62, 0, 0], signature), 'also in a caveat');
  const refused: Record<string, number[]> = {
    'no identifier': [2, 0, 0],
    'an empty identifier': [2, 2, 0, 0, 0],
    'the location after the identifier': [2, 2, 1, 0x61, 1, 1, 0x61, 0, 0],
    'two identifiers': [2, 2, 1, 0x61, 2, 1, 0x61, 0, 0],
    'a verification id in the head': [2, 2, 1, 0x61, 4, 1, 0x61, 0, 0],
    'an unknown field': [2, 2, 1, 0x61, 3, 1, 0x61, 0, 0],
    'a signature in the head': [2, 2, 1, 0x61, 6, 1, 0x61, 0, 0],
    'a length in two bytes that needs one': [2, 2, 0x81, 0, 0x61, 0, 0],
    'a length without an end': [2, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0],
    'a location that is not text': [2, 1, 1, 0xff, 2, 1, 0x61, 0, 0],
    'a caveat without an identifier': [2, 2, 1, 0x61, 0, 1, 1, 0x61, 0, 0],
    'a caveat with an empty identifier': [2, 2, 1, 0x61, 0, 2, 0, 0, 0],
    'a caveat with an empty verification id': [2, 2, 1, 0x61, 0, 2, 1, 0x61, 4, 0, 0, 0],
    'a location in a first-party caveat': [2, 2, 1, 0x61, 0, 1, 1, 0x61, 2, 1, 0x62, 0, 0],
  };
  for (const [name, bytes] of Object.entries(refused)) t.notOk(read(bytes, signature), name);
  t.notOk(read([2, 2, 1, 0x61, 0, 0, 6, 31, ...Buffer.alloc(31)]), 'a short signature');
  t.notOk(read([2, 2, 1, 0x61, 0, 0, 2, 32, ...Buffer.alloc(32)]), 'another field for the signature');
  t.notOk(read([3, 2, 1, 0x61, 0, 0], signature), 'another version');
  t.end();
});

t.test('version 1 has its packets in order, with lengths in lower case and a line feed at the end', (t) => {
  const end = ['002fsignature ', [...Buffer.alloc(32)], '\n'];
  const head = '000elocation \n0010identifier a\n';
  const packet = (name: string, value: string): string =>
    `${(6 + name.length + value.length).toString(16).padStart(4, '0')}${name} ${value}\n`;
  t.equal(packet('location', ''), '000elocation \n');
  t.equal(packet('identifier', 'a'), '0011identifier a\n');
  const start = packet('location', '') + packet('identifier', 'a');
  t.ok(read(start, ...end), 'the least there can be');
  t.ok(read(start, packet('cid', 'b'), packet('vid', 'c'), packet('cl', 'd'), ...end));
  t.ok(read(start, packet('cid', 'b'), packet('vid', 'c'), ...end), 'a third party without a place');
  const refused: Record<string, string> = {
    'a wrong length': head,
    'no location': packet('identifier', 'a'),
    'the identifier first': packet('identifier', 'a') + packet('location', ''),
    'an empty identifier': packet('location', '') + packet('identifier', ''),
    'an unknown packet': start + packet('cxd', 'b'),
    'a verification id without a caveat': start + packet('vid', 'b'),
    'a location in a first-party caveat': start + packet('cid', 'b') + packet('cl', 'c'),
    'the location before the verification id': start + packet('cid', 'b') + packet('cl', 'c') + packet('vid', 'd'),
    'a length in upper case': start.replace('000e', '000E'),
    'a length with a sign': start.replace('000e', '+00e'),
    'another end of the packet': start.replaceAll('\n', '\r'),
  };
  for (const [name, text] of Object.entries(refused)) t.notOk(read(text, ...end), name);
  t.notOk(read(start, '002esignature ', [...Buffer.alloc(31)], '\n'), 'a short signature');
  t.end();
});

t.test('the limits hold before a macaroon is built', (t) => {
  const caveat = [2, 1, 0x61, 0];
  const caveats = (count: number): number[] => Array.from({ length: count }, () => caveat).flat();
  t.ok(read([2, 2, 1, 0x61, 0], caveats(limits.caveats), [0], signature));
  t.notOk(read([2, 2, 1, 0x61, 0], caveats(limits.caveats + 1), [0], signature));
  const cid = '0009cid a\n';
  const start = '000elocation \n0011identifier a\n';
  const end = ['002fsignature ', [...Buffer.alloc(32)], '\n'];
  t.equal(cid.length, 10);
  t.ok(read(start, '000acid a\n'.repeat(limits.caveats), ...end));
  t.notOk(read(start, '000acid a\n'.repeat(limits.caveats + 1), ...end));

  const longest = mint(rootKey, Buffer.alloc(limits.field, 'a'), '');
  for (const version of [1, 2] as const) {
    const written = writeBinary(longest, version);
    t.ok(readBinary(written));
    const many = writeBinaryList(Array.from({ length: limits.discharges + 1 }, adasToken), version);
    t.equal(readBinaryList(many)?.length, limits.discharges + 1, 'a root and its discharges');
    t.notOk(readBinaryList(Buffer.concat([many, writeBinary(adasToken())])), 'one more');
  }
  t.notOk(read([2, 2, 0x81, 0x80, 2], 'a'.repeat(limits.field + 1), [0, 0], signature), 'a field too long');
  t.notOk(read(start, '800acid ', 'a'.repeat(limits.field + 1), '\n', ...end), 'a packet too long');
  t.notOk(readBinaryList(Buffer.alloc(limits.text + 1, writeBinary(adasToken()))), 'more than there may be');
  t.end();
});
