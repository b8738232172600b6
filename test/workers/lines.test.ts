import fc from 'fast-check';
import t from 'tap';

import { wholeLines } from '#src/workers/lines.ts';

t.test('however the bytes come, whole lines go out, and all of them', (t) => {
  const line = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 12 }), (lines, cuts) => {
      const whole = Buffer.from(lines.map((one) => `${one}\n`).join(''));
      const given: Buffer[] = [];
      const { take, end } = wholeLines((bytes) => given.push(Buffer.from(bytes)));
      let at = 0;
      for (const cut of cuts) take(whole.subarray(at, (at += cut)));
      take(whole.subarray(at));
      end();
      return Buffer.concat(given).equals(whole) && given.every((bytes) => bytes.length === 0 || bytes.at(-1) === 0x0a);
    }),
  );
  t.end();
});

t.test('what is cut off by the end is a line of its own', (t) => {
  const given: string[] = [];
  const { take, end } = wholeLines((bytes) => given.push(bytes.toString()));
  take(Buffer.from('one\ntw'));
  end();
  t.same(given, ['one\n', 'tw\n']);
  t.end();
});

t.test('a line without an end is not gathered for ever', (t) => {
  let passed = 0;
  const { take } = wholeLines((bytes) => (passed += bytes.length));
  for (let part = 0; part < 40; part++) take(Buffer.alloc(64 * 1024, 'a'));
  t.ok(passed >= 2 * 1024 * 1024);
  t.end();
});
