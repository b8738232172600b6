// The program as it is started.
import t from 'tap';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeProblem } from '#cli/frame/runtime.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');

/** Starts larder; with `deaf`, its standard output is not read. */
async function start(
  args: string[],
  {
    deaf = false,
    program = [process.execPath],
    stdout = 'pipe',
    stderr = 'pipe',
  }: { deaf?: boolean; program?: string[]; stdout?: 'pipe' | number; stderr?: 'pipe' | number } = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const [command = '', ...before] = program;
  const child = spawn(command, [...before, main, ...args], { stdio: ['ignore', stdout, stderr] });
  let [out, err] = ['', ''];
  if (deaf) child.stdout?.destroy();
  else child.stdout?.on('data', (chunk) => (out += String(chunk)));
  child.stderr?.on('data', (chunk) => (err += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
}

t.test('the exit code shows the outcome', async (t) => {
  t.match(await start(['version']), { code: 0, out: /^larder \d/, err: '' });
  t.match(await start(['help', '--json']), { code: 0, out: /^\{.*\}\n$/, err: '' });
  t.match(await start(['vresion']), {
    code: 2,
    out: '',
    err: /^larder: there is no command 'vresion'; did you mean 'version'\?\n/,
  });
});

t.test('a process that was started with lower priority keeps it', async (t) => {
  const data = t.testdir();
  t.match(await start(['init', '--data', join(data, 'store')]), { code: 0 });
  const nice = async (line: string[]) => start(line, { program: ['nice', '-n', '15', process.execPath] });
  t.match(await nice(['backup', '--data', join(data, 'store'), join(data, 'nice.tar')]), { code: 0, err: '' });
});

t.test('a reader that has read enough is no failure', async (t) => {
  t.strictSame(await start(['help'], { deaf: true }), { code: 0, out: '', err: '' });
});

t.test('output that does not fit on its disk is a failure, and reported', async (t) => {
  const full = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(full));
  t.match(await start(['version'], { stdout: full }), {
    code: 1,
    err: 'larder: the command was done, but cannot say so: the disk that holds its answer is full; make room on it, or use a place on another disk, and try again\n',
  });
  const { code, err } = await start(['help', '--json'], { stdout: full });
  t.match([code, JSON.parse(err)], [1, { code: 'cannot-write' }]);
  t.match(
    await start(['vresion'], { stderr: full }),
    { code: 2 },
    'where not even that can be said, the code is right',
  );
});

t.test('a Node that is too old is refused with the required version', async (t) => {
  t.equal(runtimeProblem(process.versions), undefined);
  const needed = 'Node 24 is needed (Node-API 10 or later); this is Node 20.20.2';
  t.equal(runtimeProblem({ node: '20.20.2', napi: '9' }), needed);
  t.equal(runtimeProblem({ node: '20.20.2' }), needed);
});
