// Very many assertions, with their texts in a spill file.
import { closeSync, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import t from 'tap';

import { joined, type Assertion } from '#assertions/format/assertion.ts';
import { AssertionPool } from '#assertions/assertion-pool.ts';
import { SpilledAssertions } from '#assertions/spilled-assertions.ts';
import { nameOf } from '#assertions/format/types.ts';
import { SpillFile } from '#files/spill-file.ts';
import { adasAccount, adasKey, storeKey } from './world.ts';

/** An unsigned assertion. */
function declared(name: string, revision: number, more = 0): Assertion {
  const headers = { series: '16', 'snap-id': name.padStart(32, 'p'), 'snap-name': name };
  const content = [
    'type: snap-declaration',
    'authority-id: ada',
    ...(revision > 0 ? [`revision: ${String(revision)}`] : []),
  ];
  const lines = [
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    `about: ${'x'.repeat(more)}`,
  ];
  const key = storeKey.signKeyId;
  return {
    type: 'snap-declaration',
    headers,
    body: '',
    format: 0,
    revision,
    signKeyId: key,
    signature: 'AcLBUgAB',
    content: [...content, ...lines, `sign-key-sha3-384: ${key}`].join('\n'),
  };
}

t.test('they are the same as those of a pool', (t) => {
  const some = [
    storeKey,
    declared('b', 1),
    declared('a', 3, 20_000),
    declared('b', 2),
    adasAccount,
    declared('a', 2),
    adasKey,
  ];
  const [pool, spooled] = [new AssertionPool(), new SpilledAssertions(new SpillFile(t.testdir()))];
  for (const assertion of some) {
    pool.add(assertion, 'a file');
    spooled.add(assertion);
  }
  t.strictSame([...spooled].map(joined), pool.all.map(joined));
  for (const assertion of some) {
    const actual = spooled.get(nameOf(assertion))!;
    t.equal(joined(actual), joined(pool.find(nameOf(assertion))!));
    t.equal(spooled.revisionAt(spooled.numberOf(nameOf(assertion))), actual.revision);
  }
  t.strictSame([...spooled.ofType('account-key')].map(joined), [storeKey, adasKey].map(joined));
  t.strictSame([...spooled.ofType('model')], []);
  t.equal(spooled.get('account/bob'), undefined);
  const picked = spooled.pick([2, 0]);
  t.strictSame([...picked].map(nameOf), [nameOf(pool.all[2]!), nameOf(storeKey)]);
  t.strictSame([picked.at(0)?.type, picked.at(2), picked.length], ['snap-declaration', undefined, 2]);
  t.end();
});

t.test('an assertion with a changed text in the spill file is refused', (t) => {
  const folder = t.testdir();
  const spool = new SpillFile(folder);
  const spooled = new SpilledAssertions(spool);
  for (let at = 0; at < 100; at++) spooled.add(declared(`s${String(at)}`, 1, 20_000));
  const lying = readdirSync('/proc/self/fd')
    .map((fd) => join('/proc/self/fd', fd))
    .filter((file) => linkOf(file).startsWith(folder));
  t.equal(lying.length, 1);
  const file = openSync(lying[0]!, 'r+');
  writeSync(file, 'y', 5000);
  closeSync(file);
  t.throws(() => spooled.at(0), { message: /its digest has changed/ });
  t.equal(spooled.at(1)?.headers['snap-name'], 's1');
  spool.close();
  t.end();
});

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

t.test('few bytes of each are in memory, for any length', (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const inMemory = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const spooled = new SpilledAssertions(new SpillFile(t.testdir()));
  // By then all that is there once is there.
  for (let at = 0; at < 2000; at++) spooled.add(declared(`s${String(at)}`, 1, 1000));
  const before = inMemory();
  const count = 8000;
  for (let at = 2000; at < 2000 + count; at++) spooled.add(declared(`s${String(at)}`, 1, 1000));
  const each = (inMemory() - before) / count;
  t.ok(each < 500, `${each.toFixed(0)} bytes of each`);
  t.equal(spooled.at(2000 + count - 1)?.revision, 1);
  t.end();
});
