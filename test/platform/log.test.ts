// The lines of the log, for programs and for people.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';
import fc from 'fast-check';
import { createLog, isForPeople, logAnswered } from '#platform/log.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { fill, noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void, text = true): string {
  let written = '';
  write(createLog('info', { asText: () => text, destination: { write: (line) => void (written += line) } }));
  return written;
}

t.test('a line for people has the time, the level, the message, and the further fields', async (t) => {
  const line = logged((log) => {
    log.warn({ operation: 'register_name', status: 409, note: 'two words', nothing: null, list: ['a'] }, 'answered');
  });
  t.match(
    line,
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z WARN {2}answered operation=register_name status=409 note="two words" list="\[\\"a\\"\]"\n$/,
  );
});

t.test('an error is logged with its place in the code, on the same line', async (t) => {
  const line = logged((log) => {
    log.error({ err: new Error('cannot read\nthe disk') }, 'failed');
  });
  t.match(line, /ERROR failed err="cannot read\\nthe disk \(at .*log\.test\.ts:\d+:\d+\)"\n$/);
  t.equal(line.split('\n').length, 2);
});

t.test('for programs it is JSON, and the form may change while the log is written', async (t) => {
  let text = false;
  let written = '';
  const log = createLog('info', { asText: () => text, destination: { write: (line) => void (written += line) } });
  log.info({ a: 1 }, 'one');
  text = true;
  log.info({ a: 1 }, 'two');
  const [first = '', second = ''] = written.split('\n');
  t.match(JSON.parse(first), { level: 'info', a: 1, msg: 'one' });
  t.match(second, /INFO {2}two a=1$/);
});

t.test('the log line of a request equals the line of the logger itself', async (t) => {
  const line = {
    request: '1d6f7a1c-6c47-4f0e-8b3f-0f8a5f1f7a11',
    operation: 'package_permissions',
    method: 'POST',
    status: 200,
    account: 'ada-id',
    address: 'fe80::1%eth0',
    ms: 0.1,
  };
  for (const account of ['ada-id', undefined]) {
    for (const text of [true, false]) {
      const [plain, byHeart] = [
        logged((log) => {
          log.info({ ...line, account }, 'answered');
        }, text),
        logged((log) => {
          logAnswered(log, { ...line, account });
        }, text),
      ].map((written) => written.replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z/, 'NOW'));
      t.equal(byHeart, plain);
    }
  }
  let written = '';
  logAnswered(createLog('warn', { destination: { write: (text) => void (written += text) } }), line);
  t.equal(written, '', 'where such lines are wanted');
});

t.test('with any value, a log line is one line without control characters', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\n2026-01-01 INFO all is well', '\x1b[2J\x1b[H', '\u202eevil', '\u0085', '\r', '\u2028'),
  );
  fc.assert(
    fc.property(hostile, hostile, hostile, (name, value, message) => {
      const line = logged((log) => {
        log.info({ [`x${name}`]: value, nested: { [name]: [value] } }, message);
      });
      return line.endsWith('\n') && !/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/.test(line.slice(0, -1));
    }),
    { numRuns: 500 },
  );
});

t.test('people at a terminal get text and all other readers JSON, unless it is set', async (t) => {
  t.strictSame(
    (['auto', 'json', 'text'] as const).map((format) => [isForPeople(format, true), isForPeople(format, undefined)]),
    [
      [true, false],
      [false, false],
      [true, true],
    ],
  );
});

t.test('every line is written whole and in order, also buffered lines at the end of the process', (t) => {
  const sizes = [1, 10, 5_000, 40_000, 3, 16_000, 200_000, 1];
  const code = `
    import { createLog } from ${JSON.stringify(import.meta.resolve('#platform/log.ts'))};
    const log = createLog('info');
    for (const size of ${JSON.stringify(sizes)}) log.info({ text: '\u{1d11e}é'.repeat(size) }, 'noted');
    for (let at = 0; at < 500; at++) log.info({ at }, 'counted');
    process.exit(0);`;
  const args = ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '-e', code];
  const { stderr } = spawnSync('/usr/bin/env', args, { encoding: 'utf8', maxBuffer: 1e8 });
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { text?: string; at?: number });
  t.same(
    lines.slice(0, sizes.length).map(({ text = '' }) => text.length),
    sizes.map((size) => 3 * size),
  );
  t.same(
    lines.slice(sizes.length).map(({ at }) => at),
    Array.from({ length: 500 }, (_, at) => at),
  );
  t.end();
});

t.test('lines of several workers do not mix, although all of them write to one pipe that is read slowly', (t) => {
  const writer = `
    import { createLog } from ${JSON.stringify(import.meta.resolve('#platform/log.ts'))};
    const log = createLog('info', { worker: Number(process.argv[1]) });
    for (let at = 0; at < 5000; at++) log.info({ at, text: '\u{1d11e}é'.repeat(at % 90) }, 'counted');`;
  const reader = `
    for await (const piece of process.stdin) {
      for (const end = performance.now() + 4; performance.now() < end; );
      process.stdout.write(piece);
    }`;
  const script =
    'for worker in 1 2 3; do "$1" --input-type=module -e "$2" $worker & done 2>&1 | "$1" --input-type=module -e "$3"';
  const args = ['-u', 'NODE_OPTIONS', 'sh', '-c', script, 'sh', process.execPath, writer, reader];
  const { stdout } = spawnSync('/usr/bin/env', args, { encoding: 'utf8', maxBuffer: 1e8 });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { at: number; worker: number });
  for (const worker of [1, 2, 3]) {
    t.same(
      lines.filter((line) => line.worker === worker).map(({ at }) => at),
      Array.from({ length: 5000 }, (_, at) => at),
    );
  }
  t.end();
});

t.test('a log without space ends no process, and reports the number of lost lines later', async (t) => {
  const disk = smallDisk(t, '4m');
  if (disk === undefined) {
    t.comment(noSmallDisk);
    return;
  }
  const file = join(disk, 'log');
  const standardError = openSync(file, 'a');
  fill(disk);
  const program = `
    import { createLog } from '#platform/log.ts';
    const log = createLog('info');
    for (let nth = 0; nth < 20_000; nth++) log.info({ nth }, 'a line that is about a hundred bytes long, as those of requests are');
    log.flush();
    process.stdout.write('goes on');
    process.stdin.once('data', () => {
      log.info('there is room');
      log.flush();
      setImmediate(() => process.exit(0));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', standardError],
  });
  t.teardown(() => kill(child));
  closeSync(standardError);
  await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  rmSync(join(disk, 'filler'));
  child.stdin!.on('error', () => undefined).write('go on');
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 0);
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { nth?: number; msg: string; lines?: number });
  const numbers = lines.flatMap(({ nth }) => nth ?? []);
  t.ok(numbers.length > 1000, 'some waited');
  t.same(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
    'whole and in order',
  );
  const rest = lines.slice(numbers.length);
  t.match(rest, [{ msg: 'there is room' }, { msg: 'lines of the log are lost, because its disk was full' }]);
  t.equal(rest[1]?.lines, 20_000 - numbers.length);
});
