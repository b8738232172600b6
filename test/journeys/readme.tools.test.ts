// The journey in docs/journey.md, pasted line by line, unchanged.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { engine } from '#test/fixtures/records/engines.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { larder } from '#test/fixtures/processes/served.ts';

const root = join(import.meta.dirname, '../..');

t.setTimeout(600_000);

t.test(
  'every line of the journey works as described, from the first to the last',
  { skip: withoutPrograms('mksquashfs', 'curl') },
  async (t) => {
    // A checkout after `npm start`: its command, and the data of the server.
    const checkout = t.testdir();
    symlinkSync(join(root, 'bin'), join(checkout, 'bin'));
    mkdirSync(join(checkout, 'data'));
    const listen = `127.0.0.1:${await freePort()}`;
    // Records on a server are configured earlier: a developer with those does not begin with `npm start`.
    if (engine === 'postgres') {
      await larder('init', '--data', join(checkout, 'data'), '--listen', listen, '--base-url', `http://${listen}`);
    }
    const server = spawn(
      process.execPath,
      [join(root, 'packaging/start.ts'), '--data', join(checkout, 'data'), '--listen', listen],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    t.teardown(() => kill(server));
    let output = '';
    await new Promise<void>((resolve, reject) => {
      server.once('exit', () => reject(new Error(`npm start ended: ${output}`)));
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Ctrl-C')) resolve();
      });
    });
    t.match(output, `Its documents, for people: http://${listen}/docs/`);

    const journey = readFileSync(join(root, 'docs/journey.md'), 'utf8');
    const blocks = [...journey.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, lines]) => lines);
    t.ok(blocks.length >= 7);
    const script = `set -eu\n${blocks.join('\n')}\nprintf '\\n%s\\n' "id=$id key=$key"\n`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: checkout,
      env: { ...process.env, NODE_OPTIONS: '', TMPDIR: checkout },
    });
    t.match(stdout, /"username":"bob"/);
    t.match(stdout, /"released":\[/);
    t.match(stdout, /"revision":1|"revisions":\[/, 'the gateway is told of the revision');
    t.match(stdout, /\nid=[A-Za-z0-9]{32} key=[\w-]{64}\n/);
    t.match(readFileSync(join(checkout, 'to-the-internet/READ-ME-FIRST.txt'), 'utf8'), 'serial-key');
    t.match(readFileSync(join(checkout, 'model-key.account-key-request'), 'utf8'), /^type: account-key-request\n/);
    const made = readdirSync(checkout, { withFileTypes: true })
      .filter(({ name }) => name !== 'bin')
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    const ignored = execFileSync('git', ['check-ignore', ...made], { cwd: root, encoding: 'utf8' })
      .trim()
      .split('\n');
    t.same(ignored.sort(), made.sort(), 'a checkout has no untracked file afterwards');
    t.notMatch(journey.replace(/^```console\n[^]*?^```/gm, ''), /"…"|\bID\b(?!-)/, 'nothing is left to be filled in');
  },
);
