import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { startWorker as startFrom, type StartWorker } from '#platform/embedded.ts';
import { createReviewer, type ReviewerOptions } from '#review/reviewer.ts';
import type { ReviewUpload } from '#review/verdict.ts';
import { expected, snapPath } from './fixtures.ts';
import { pack, snapYaml } from './packed.ts';

const root = join(import.meta.dirname, '../..');
const startWorker: StartWorker = (options) => startFrom('src/review/worker.ts', options);
const snap = (file: string, name = 'tiny-app'): ReviewUpload => ({ kind: 'snap', path: snapPath(file), name });

/** A reviewer that ends with the test, and how often it has started a worker. */
function reviewer(t: Test, options: Partial<ReviewerOptions> = {}) {
  let starts = 0;
  const counted: StartWorker = (workerOptions) => {
    starts++;
    return (options.startWorker ?? startWorker)(workerOptions);
  };
  const { review, close } = createReviewer({ ...options, startWorker: counted });
  t.teardown(close);
  return { review, close, starts: () => starts };
}

/** Starts the first worker with this code, which is asked to do its worst, and the others as they should be. */
function firstWith(code: string): StartWorker {
  let first = true;
  return (options) => {
    if (!first) return startWorker(options);
    first = false;
    return new Worker(`const { parentPort } = require('node:worker_threads');\n${code}`, { ...options, eval: true });
  };
}

t.test('every snap made by mksquashfs gets its verdict', async (t) => {
  const { review, starts } = reviewer(t);
  for (const [file, { fields }] of Object.entries(expected)) {
    const name = fields?.name ?? 'tiny-app';
    const verdict = await review(snap(file, name));
    if (['bad-name', 'no-snap-yaml'].includes(file)) {
      t.match(verdict, { approved: false, errors: [{ code: 'review-error', message: String }] }, file);
    } else t.match(verdict, { approved: true, kind: 'snap', facts: { ...fields } }, file);
  }
  t.equal(starts(), 1, 'one worker does it all');
});

t.test('a snap pushed to another package is rejected with the way out', async (t) => {
  const { review } = reviewer(t);
  t.same(await review(snap('app-lzo', 'bobs-app')), {
    approved: false,
    errors: [
      {
        code: 'review-error',
        message:
          "The snap is called 'tiny-app' in meta/snap.yaml, but was pushed to 'bobs-app'. Push it to 'tiny-app', or change the name in it.",
      },
    ],
  });
});

t.test('content without a reviewer is approved unchanged', async (t) => {
  const { review, starts } = reviewer(t);
  t.same(await review({ kind: 'plain', path: '/nowhere', name: 'tool' }), { approved: true, kind: 'plain' });
  t.equal(starts(), 0);
});

t.test('reviews wait for one another', async (t) => {
  const { review, starts } = reviewer(t);
  const files = ['app-xz', 'no-snap-yaml', 'app-lzo', 'bad-name', 'app-zstd', 'app-gzip'];
  const verdicts = await Promise.all(files.map((file) => review(snap(file))));
  t.same(
    verdicts.map(({ approved }) => approved),
    [true, false, true, false, true, true],
  );
  t.equal(starts(), 1);
});

/** A signed snap, as a transfer has many of them. */
const signed = (file: string): ReviewUpload => ({ ...snap(file), signed: true });

/** Workers that do this when they get a file, and how many requests each of their messages has. */
function workersThat(code: string, file: string) {
  const counts = new Int32Array(new SharedArrayBuffer(64));
  const start: StartWorker = (options) =>
    new Worker(
      `const { parentPort, workerData: { counts, file } } = require('node:worker_threads');
      parentPort.on('message', (message) => {
        const requests = message.together ?? [message];
        counts[++counts[0]] = requests.length;
        if (requests.some(({ path }) => path === file)) { ${code} }
      });
      import(${JSON.stringify(join(root, 'src/review/worker.ts'))});`,
      { ...options, eval: true, workerData: { counts, file: snapPath(file) } },
    );
  return { startWorker: start, counts: () => [...counts.subarray(1, 1 + counts[0]!)] };
}

t.test('signed snaps that wait are reviewed by one message, in their order', async (t) => {
  const { startWorker: start, counts } = workersThat('', 'app-xz');
  const { review } = reviewer(t, { startWorker: start });
  const files = ['app-xz', 'no-snap-yaml', 'app-lzo', ...Array<string>(20).fill('app-gzip')];
  const order: number[] = [];
  const verdicts = await Promise.all([
    ...files.map(async (file, at) => {
      const verdict = await review(signed(file));
      order.push(at);
      return verdict;
    }),
    review(snap('app-zstd')),
    review(snap('app-lzo')),
  ]);
  t.same(
    verdicts.map(({ approved }) => approved),
    files.concat('', '').map((file) => file !== 'no-snap-yaml'),
  );
  t.same(order, [...files.keys()]);
  t.same(counts(), [16, 7, 1, 1], 'a publisher waits for each of the last two');
});

t.test('a signed snap that breaks the worker is judged alone', async (t) => {
  const files = ['app-xz', 'app-lzo', 'app-zstd'];
  for (const [code, pattern] of [
    ['for (;;);', /within 2 seconds/],
    ['const all = []; for (;;) all.push({ more: [all.length] });', /MB of memory/],
  ] as const) {
    const { startWorker: start, counts } = workersThat(code, 'app-lzo');
    const { review } = reviewer(t, { startWorker: start, timeLimitMs: 2000, heapMb: 32 });
    const [first, second, last] = await Promise.all(files.map((file) => review(signed(file))));
    t.match([first, last], [{ approved: true }, { approved: true }]);
    t.match(second, { approved: false, errors: [{ message: pattern }] });
    t.same(counts(), [3, 1, 1, 1]);
  }
  const { review } = reviewer(t, workersThat(`throw new Error('a bug');`, 'app-lzo'));
  const ended = await Promise.allSettled(files.map((file) => review(signed(file))));
  t.match(ended, [{ value: { approved: true } }, { reason: { cause: /a bug/ } }, { value: { approved: true } }]);
});

t.test('a file that is not there leaves the verdicts of the others', async (t) => {
  const { review } = reviewer(t);
  const missing: ReviewUpload = { ...signed('app-xz'), path: join(t.testdir({}), 'gone') };
  const ended = await Promise.allSettled([review(signed('app-xz')), review(missing), review(signed('app-lzo'))]);
  t.match(ended, [
    { value: { approved: true } },
    { reason: { cause: { cause: { message: /ENOENT/ } } } },
    { value: { approved: true } },
  ]);
});

t.test('the icon comes over whole', async (t) => {
  const { review } = reviewer(t);
  const drawing = `<svg>${'x'.repeat(299_000)}</svg>`;
  const path = pack(t, { 'meta/snap.yaml': snapYaml('drawn'), 'meta/gui/icon.svg': drawing });
  const verdict = await review({ kind: 'snap', path, name: 'drawn' });
  const icon = verdict.approved && verdict.kind === 'snap' ? verdict.facts.icon : null;
  t.equal(icon?.mediaType, 'image/svg+xml');
  t.ok(icon?.bytes instanceof Uint8Array);
  t.equal(new TextDecoder().decode(icon?.bytes), drawing);
});

t.test('an upload that takes too long is rejected, and the next one gets a new worker', async (t) => {
  const hanging = firstWith(`parentPort.on('message', () => { for (;;); });`);
  const { review, starts } = reviewer(t, { startWorker: hanging, timeLimitMs: 2000 });
  const [late, next] = await Promise.all([review(snap('app-xz')), review(snap('app-xz'))]);
  t.match(late, { approved: false, errors: [{ code: 'review-error', message: /within 2 seconds/ }] });
  t.match(next, { approved: true });
  t.equal(starts(), 2);
});

t.test('an upload that takes too much memory is rejected, and the next one gets a new worker', async (t) => {
  const greedy = firstWith(
    `parentPort.on('message', () => { const all = []; for (;;) all.push({ more: [all.length] }); });`,
  );
  const { review, starts } = reviewer(t, { startWorker: greedy, heapMb: 32 });
  const [large, next] = await Promise.all([review(snap('app-xz')), review(snap('app-xz'))]);
  t.match(large, { approved: false, errors: [{ code: 'review-error', message: /within 32 MB of memory/ }] });
  t.match(next, { approved: true });
  t.equal(starts(), 2);
});

t.test('a meta/snap.yaml made to fill the memory is rejected', async (t) => {
  const { review } = reviewer(t);
  for (const [at, yaml] of [
    `name: x\na: [${':,'.repeat(400_000)}]`,
    `name: x\na: [${': ,'.repeat(66_000)}]`,
    `name: x\na: [${'[],'.repeat(66_000)}]`,
    `name: x\n${'- '.repeat(90)}\n`.repeat(1000),
    `name: x\na: ${'&a '.repeat(300_000)}`,
  ].entries()) {
    const path = pack(t, { 'meta/snap.yaml': yaml });
    t.match(await review({ kind: 'snap', path, name: 'x' }), { approved: false }, String(at));
  }
  t.match(await review(snap('app-xz')), { approved: true });
});

t.test('a worker that breaks is an internal error: the review can be requested again', async (t) => {
  for (const [code, pattern] of [
    [`parentPort.on('message', () => { throw new Error('a bug'); });`, /a bug/],
    [`parentPort.on('message', () => { process.exit(3); });`, /ended with 3/],
    [`throw new Error('does not start');`, /does not start/],
    [`process.exit(0);`, /ended with 0/],
    [
      `parentPort.on('message', () => { parentPort.postMessage({ fault: new Error('no such file') }); });`,
      /could not be read/,
    ],
  ] as const) {
    const { review } = reviewer(t, { startWorker: firstWith(code) });
    await t.rejects(review(snap('app-xz')), {
      message: "cannot review the snap 'tiny-app'",
      cause: { message: pattern },
    });
    if (!code.includes('fault')) t.match(await review(snap('app-xz')), { approved: true });
  }
});

t.test('a file that is not there is our fault as well', async (t) => {
  const { review } = reviewer(t);
  const missing: ReviewUpload = { kind: 'snap', path: join(t.testdir({}), 'gone'), name: 'tiny-app' };
  await t.rejects(review(missing), {
    message: "cannot review the snap 'tiny-app'",
    cause: { cause: { message: /ENOENT/ } },
  });
  t.match(await review(snap('app-xz')), { approved: true });
});

t.test('a worker that cannot be started is our fault', async (t) => {
  const { review } = reviewer(t, {
    startWorker: () => {
      throw new Error('no threads left');
    },
  });
  await t.rejects(review(snap('app-xz')), { cause: { message: 'no threads left' } });
});

t.test('an idle worker is ended, and another one is started when needed', async (t) => {
  // An idle worker does not keep the process; something has to, until its end is seen.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => {
    clearInterval(alive);
  });
  const ends: Promise<unknown>[] = [];
  const { review } = reviewer(t, {
    idleMs: 1,
    startWorker: (options) => {
      const worker = startWorker(options);
      ends.push(once(worker, 'exit'));
      return worker;
    },
  });
  t.match(await review(snap('app-xz')), { approved: true });
  await ends[0];
  t.match(await review(snap('app-xz')), { approved: true });
  t.equal(ends.length, 2);
});

t.test('closing rejects current and waiting reviews', async (t) => {
  const { review, close } = reviewer(t, { startWorker: firstWith(`parentPort.on('message', () => { for (;;); });`) });
  const reviews = Promise.allSettled([review(snap('app-xz')), review(snap('app-xz'))]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await close();
  for (const result of await reviews) t.match(result, { status: 'rejected', reason: { message: /^cannot review/ } });
  await t.rejects(review(snap('app-xz')), { cause: { message: 'the reviewer is closed' } });
  await close();
});

t.test('a reviewer does not keep the process alive', async (t) => {
  const program = `
    import { createReviewer } from '#review/reviewer.ts';
    import { startWorker } from '#platform/embedded.ts';
    const reviewer = createReviewer({ startWorker: (options) => startWorker('src/review/worker.ts', options) });
    const verdict = await reviewer.review({ kind: 'snap', path: process.argv[1], name: 'tiny-app' });
    console.log(verdict.approved);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program, snapPath('app-xz')], {
    cwd: root,
    encoding: 'utf8',
    timeout: 300_000,
    env: {},
  });
  t.equal(printed, 'true\n');
});

t.test('the worker is one text when bundled, as in the executable', async (t) => {
  const bundle = await build({
    entryPoints: [join(root, 'src/review/worker.ts')],
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    write: false,
  });
  const code = bundle.outputFiles[0]?.text ?? '';
  t.comment(`${String(Math.round(code.length / 1024))} KiB`);
  const { review } = reviewer(t, { startWorker: (options) => new Worker(code, { ...options, eval: true }) });
  for (const file of ['app-xz', 'app-lzo', 'app-gzip', 'app-zstd']) {
    t.match(await review(snap(file)), { approved: true, facts: { version: '1.10' } }, file);
  }
});
