// `npm start` in a fresh clone of the sources.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { kill } from '#test/fixtures/processes/kill.ts';

const script = join(import.meta.dirname, '../../packaging/start.ts');

function start(data: string, listen: string) {
  const child = spawn(process.execPath, [script, '--data', data, '--listen', listen], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => kill(child));
  const output = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  const ready = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
      if (output.stdout.includes('Ctrl-C')) resolve(output.stdout);
    });
  });
  return { child, ended, ready: Promise.race([ready, ended.then((end) => JSON.stringify(end))]) };
}

t.test('npm start makes a store, serves it and shows how to publish; a second start uses the same store', async (t) => {
  const data = join(t.testdir(), 'data');
  const listen = `127.0.0.1:${await freePort()}`;

  const first = start(data, listen);
  const output = await first.ready;
  t.match(output, `larder is ready at http://${listen}\n`);
  const lines = output.split('\n').filter((line) => /^ {2}(?:export|larder) /.test(line));
  const [path = '', letIn = '', command = '', ...others] = lines;
  t.match(letIn, /^ {2}larder account password larder-admin$/);
  t.match(others, [/ account create /]);
  t.ok(
    lines.every((line) => line === path || line.length <= 90),
    'short lines, but for the one that makes them so',
  );
  const { stdout } = await promisify(execFile)('sh', ['-c', `${path.trim()}; ${command.trim()}`]);
  t.match(stdout, "export SNAPCRAFT_STORE_AUTH='onprem'\n");
  t.match(stdout, `export STORE_DASHBOARD_URL='http://${listen}/publishergw'\n`);
  const file = /^The store administrator's credential is in (.+)$/m.exec(output)?.[1] ?? '';
  t.ok(existsSync(file), 'the credential is where it says');
  const credential = readFileSync(file, 'utf8');
  t.equal((await fetch(`http://${listen}/readyz`)).status, 200);

  const second = start(data, listen);
  t.match(await second.ended, { code: 1, stderr: new RegExp(`^larder: ${listen} is in use\\.`) });

  first.child.kill('SIGINT');
  t.match(await first.ended, { code: 0 });

  const again = start(data, listen);
  t.match(await again.ready, file);
  t.equal(readFileSync(file, 'utf8'), credential);
  again.child.kill('SIGTERM');
  t.match(await again.ended, { code: 0 });
});
