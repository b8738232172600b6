// larder prove: every trial once, the signed report, and a run that a signal ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newStore } from '#test/cli/process.ts';
import { larder, words } from '#test/cli/world.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { SourceCopy } from '#test/histories/defects.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { larderCommand } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';

t.setTimeout(1_200_000);

interface Report {
  good: boolean;
  trials: {
    name: string;
    tried: number;
    held: number;
    controls: number;
    controlsNoticed: number;
    notPossible: string[];
    problems: string[];
  }[];
  'signed-by': { site: string | null };
  figures: Record<string, number | null>;
}

/** Runs larder as a process, in a folder. */
function start(t: { teardown(work: () => unknown): void }, folder: string, line: string) {
  const [program, args] = larderCommand(...words(line));
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => kill(child));
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  return { child, ended, err: () => output.err };
}

t.test('every trial holds and each control is noticed; the report is signed by the site', async (t) => {
  const store = await newStore(t);
  t.match(await store.larder('site init north'), { code: 0 });
  const before = (await store.json('audit verify')) as { rows: number };
  const folder = t.testdir();
  const [[run = '', check = ''] = []] = examplesIn('administrator', 'Prove it on your machine', 1);
  const command = run.replace('--minutes 15', '--minutes 0').replace('larder ', '');
  const { code, out, err } = await start(t, folder, `${command} --data ${store.data}`).ended;
  t.equal(code, 0, out + err);
  const checked = await start(t, folder, check.replace('larder ', '')).ended;
  t.equal(checked.code, 0, checked.err);
  t.same(missingOutput('administrator', 'Prove it on your machine', out + checked.out), []);

  const files = join(folder, 'larder-proof');
  t.strictSame(readdirSync(files).sort(), ['report.html', 'report.json', 'signed.json'], 'and nothing else is left');
  const report = JSON.parse(readFileSync(join(files, 'report.json'), 'utf8')) as Report;
  t.match(report, { good: true, 'signed-by': { site: 'north' } });
  for (const { name, tried, held, controls, controlsNoticed, notPossible, problems } of report.trials) {
    t.ok(tried > 0 || notPossible.length > 0, `${name}: ${String(tried)} tried, ${notPossible.join('; ')}`);
    if (tried > 0) t.ok(controls > 0, `${name} has a control`);
    t.strictSame([held, controlsNoticed, problems], [tried, controls, []], name);
  }
  t.ok(report.figures['acknowledged-changes']! > 0);
  t.match(readFileSync(join(files, 'report.html'), 'utf8'), /<h1>Proof of larder<\/h1>/);
  t.match(await store.json('audit verify'), { good: true, rows: before.rows }, 'the other store has no new entry');

  const signed = join(files, 'signed.json');
  const text = JSON.parse(readFileSync(signed, 'utf8')) as { payload: string };
  const changed = Buffer.from(text.payload, 'base64').toString('utf8').replace('"good":true', '"good":false');
  writeFileSync(signed, JSON.stringify({ ...text, payload: Buffer.from(changed).toString('base64') }));
  t.match(await larder(`prove --check ${signed}`), { code: 1, err: /is not a report with a valid signature/ });
});

t.test('a run that a signal ends leaves nothing behind', async (t) => {
  const folder = join(t.testdir(), 'proof');
  const { child, ended, err } = start(t, t.testdir(), `prove --folder ${folder} --json`);
  await until(() => err().includes('round 1: kills'), ended);
  const servers = readdirSync('/proc').filter((pid) => isServerIn(pid, folder));
  t.equal(servers.length, 1);
  child.kill('SIGTERM');
  t.match(await ended, { code: 143, err: /interrupted/ });
  t.notOk(existsSync(folder));
  t.strictSame(
    readdirSync('/proc').filter((pid) => isServerIn(pid, folder)),
    [],
    'no server is left',
  );
});

t.test(
  'the next run removes the folder, the server and the disk of a killed run, and nothing of a running one',
  async (t) => {
    const place = t.testdir({ 'larder-proof-of-ada': {}, 'larder-proof-x': { processes: 'no process\n' } });
    const [killed, running, next] = ['larder-proof-1', 'proof', 'larder-proof-2'].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ];
    const startIn = async (folder: string) => {
      const run = start(t, place, `prove --folder ${folder} --json`);
      await until(() => run.err().includes('round 1: kills'), run.ended);
      return run;
    };
    const serversIn = (folder: string): string[] => readdirSync('/proc').filter((pid) => isServerIn(pid, folder));
    const first = await startIn(killed);
    first.child.kill('SIGKILL');
    await first.ended;
    t.equal(serversIn(killed).length, 1, 'its server goes on');
    const disk = join(killed, 'round-1/disk');
    mkdirSync(disk);
    const isMounted =
      process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', 'larder-prove', disk]).status === 0;
    if (isMounted) t.teardown(() => spawnSync('umount', ['-l', disk]));

    const second = await startIn(running);
    t.notOk(existsSync(killed));
    t.strictSame(serversIn(killed), []);
    t.notMatch(readFileSync('/proc/self/mounts', 'utf8'), disk);
    const third = await startIn(next);
    t.strictSame([serversIn(running).length, serversIn(next).length], [1, 1]);
    t.ok(existsSync(join(place, 'larder-proof-of-ada')), 'a folder without a list of processes is not of a run');
    for (const { child, ended } of [second, third]) {
      child.kill('SIGTERM');
      t.match(await ended, { code: 143 });
    }
    t.strictSame(readdirSync(place).sort(), ['larder-proof-of-ada', 'larder-proof-x']);
  },
);

t.test(
  'a check that cannot fail, and a store that finds no damage, are reported, and the other trials hold',
  async (t) => {
    const copy = new SourceCopy(['src', 'schemas', 'config', 'docs', 'bin', 'package.json', 'LICENSE']);
    t.teardown(() => copy.remove());
    for (const defect of [
      {
        name: 'no lost change is found',
        file: 'src/cli/store/prove/publisher.ts',
        text: 'await awaitReviews(ledger, client);\n  const get =',
        defect: 'await awaitReviews(ledger, client);\n  if (Date.now() > 0) return [];\n  const get =',
      },
      {
        name: 'every blob is intact',
        file: 'src/integrity/verify-blob.ts',
        text: 'if (digest === sha3_384) return',
        defect: 'if (digest !== undefined) return',
      },
      // No defect: a job that failed during a fault fails until it runs again.
      {
        name: 'a fault ends',
        file: 'src/cli/store/prove/faults.ts',
        text: 'if (store.server.isRunning()) end();',
        defect: 'if (store.server.isRunning()) end();\n      Object.assign(globalThis, { wrongTimes: 2 });',
      },
      {
        name: 'a job fails for some seconds after it',
        file: 'src/cli/store/prove/trial-store.ts',
        text: "  return findings.filter(({ level }) => level === 'wrong')",
        defect:
          "  const isFailing = globalThis['wrongTimes']-- > 0;\n" +
          "  return findings.filter(({ level }) => isFailing || level === 'wrong')",
      },
      // No defect: what made the trial of the full disk fail on a slow machine.
      {
        name: 'another change gets the reserve, and few requests fit into the time',
        file: 'src/cli/store/prove/faults.ts',
        text: 'performance.now() + faultTimeoutMs;\n  for (',
        defect:
          'performance.now() + (renew === undefined ? faultTimeoutMs : 1000);\n' +
          "  if (renew) rmSync(join(arguments[1].data, 'blobs/ballast'), { force: true });\n  for (",
      },
    ])
      copy.patch(defect);
    const folder = join(t.testdir(), 'proof');
    const { isGood, output } = await copy.run(['src/main.ts', 'prove', '--minutes', '0', '--folder', folder]);
    t.notOk(isGood, output);
    t.match(output, 'Something did not hold.');
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
    const failed = report.trials.filter(
      ({ tried, held, controls, controlsNoticed }) => tried > held || controls > controlsNoticed,
    );
    t.strictSame(
      failed.map(({ name }) => name),
      ['kills', 'faults', 'flipped-bits', 'full-disk'],
    );
    for (const name of ['kills', 'faults', 'full-disk']) {
      const trial = report.trials.find((candidate) => candidate.name === name)!;
      t.match(
        trial,
        { held: trial.tried, controlsNoticed: 0, problems: [/^control failed: /] },
        `${name}: ${trial.problems.join('; ')}`,
      );
    }
    t.match(output, /flipped-bits: bit of a blob: verify does not name the blob [0-9a-f]{96}/);
    t.match(await larder(`prove --check ${join(folder, 'signed.json')}`), { code: 1, out: /something did not hold/ });
  },
);

/** Whether a process serves a store in a folder. */
function isServerIn(pid: string, folder: string): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return line.includes('\0serve\0') && line.includes(folder);
  } catch {
    return false;
  }
}

t.test(
  'a folder that exists, is part of a store, or has no parent is refused, and so are other options of a check',
  async (t) => {
    const store = await newStore(t);
    const folder = t.testdir();
    mkdirSync(join(folder, 'there'));
    for (const [line, problem] of [
      [`--folder ${join(folder, 'there')}`, /exists already; name a new folder/],
      [`--folder ${join(store.data, 'proof')}`, /is the data directory of a store/],
      [`--folder ${join(folder, 'none/proof')}`, /there is no folder .*none; make it/],
      [`--check ${join(folder, 'none')}`, /cannot read .*none/],
      ['--check x --minutes 1', /leave --minutes, --folder and --seed out/],
    ] as const) {
      const { code, err } = await store.larder(`prove ${line}`);
      t.not(code, 0, line);
      t.match(err, problem, line);
    }
  },
);
