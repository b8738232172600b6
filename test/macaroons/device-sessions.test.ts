import fc from 'fast-check';
import t from 'tap';

import { days } from '#domain/clock.ts';
import { withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { createDeviceSessions, type DeviceSession } from '#macaroons/device-sessions.ts';

const now = new Date('2026-11-20T12:00:00Z');
let clock = now;
const sessions = createDeviceSessions(Buffer.alloc(32, 1), () => clock);
const pump: DeviceSession = {
  device: { brand: 'ada', model: 'pump', serial: '0001' },
  store: 'larder',
  deviceKeyId: 'own key',
  signedWith: 'key',
  until: new Date(now.getTime() + days(30)),
};

const word = fc.string({ unit: 'grapheme', maxLength: 256 });
const session = fc.record({
  device: fc.record({ brand: word, model: word, serial: word }),
  store: word,
  deviceKeyId: word,
  signedWith: word,
  until: fc.date({ min: new Date(now.getTime() + 1), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true }),
});

t.test('a session is written as a text that needs no quotes, and is read back', async (t) => {
  fc.assert(
    fc.property(session, (original) => {
      const text = sessions.write(original);
      t.match(text, /^[\w-]+$/);
      t.same(sessions.read(text), original);
    }),
    { numRuns: 100 },
  );
});

t.test('a session ends', async (t) => {
  const text = sessions.write(pump);
  t.teardown(() => (clock = now));
  clock = new Date(pump.until.getTime() - 1);
  t.ok(sessions.read(text));
  clock = pump.until;
  t.notOk(sessions.read(text));
});

t.test('a text of another store, or a changed or extended one, is no session', async (t) => {
  const text = sessions.write(pump);
  t.notOk(createDeviceSessions(Buffer.alloc(32, 2), () => now).read(text), 'of another store');
  const macaroon = readToken(text);
  t.ok(macaroon);
  if (macaroon === undefined) return;
  t.notOk(sessions.read(writeToken(withFirstPartyCaveat(macaroon, 'serial 0002'))), 'with a condition more');
  t.notOk(sessions.read(writeToken({ ...macaroon, caveats: macaroon.caveats.slice(1) })), 'with one less');
  const bytes = Buffer.from(text, 'base64url');
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ mask;
      t.notOk(sessions.read(changed.toString('base64url')));
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.string(), (junk) => {
      t.notOk(sessions.read(junk));
    }),
  );
});
