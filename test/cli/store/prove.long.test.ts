// larder prove: every trial once, the signed report, and a run that a signal ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newStore } from '#test/cli/process.ts';
import { larder, words } from '#test/cli/world.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
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
