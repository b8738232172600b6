// A disk with unreadable content: the reads of one file fail, by strace, as on bad blocks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import type { FaultCode } from '#platform/faults.ts';
import { newStore, start, type NewStore, type Running } from '#test/cli/process.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';
import { ask } from '#test/fixtures/processes/workers.ts';
import { showsEverywhere, showsNowhere, type Places, type Test } from './places.ts';
import { placesOfProcesses } from './processes.ts';

t.setTimeout(300_000);

interface Row {
  code: FaultCode;
  says: RegExp;
  /** When its content is pushed: before its reads fail, or while they do. */
  pushed: 'before' | 'while';
}

const rows: Row[] = [
  {
    code: 'unreadable-blobs',
    says: /^Files of this store cannot be read: bin\/tool revision 1\. Nothing was taken out of service for that$/,
    pushed: 'before',
  },
  {
    code: 'unreadable-uploads',
    says: /^1 upload waits for its review because the store cannot read the file$/,
    pushed: 'while',
  },
];

/** Registers a package and sends its content; returns a function that pushes it as a revision. */
async function send(store: NewStore, url: string): Promise<(url: string) => Promise<void>> {
  const { macaroon } = (await store.json('token issue --account larder-admin')) as { macaroon: string };
  const headers = { authorization: `Macaroon ${macaroon}` };
  await ask(url, '/v1/bin', { method: 'POST', headers, body: { name: 'tool' } });
  const form = new FormData();
  form.set('binary', new Blob(['a tool']), 'file');
  const response = await fetch(`${url}/unscanned-upload/`, { method: 'POST', body: form });
  const { upload_id: id } = (await response.json()) as { upload_id: string };
  return async (url) => {
    const body = { 'upload-id': id };
    await ask(url, '/v1/bin/tool/revisions', { method: 'POST', headers, body });
  };
}

for (const { code, says, pushed } of rows) {
  const name = `'${code}' shows at every place in the same words, and no longer once it is removed`;
  t.test(name, { skip: withoutPrograms('strace') }, async (t) => {
    const store = await newStore(t);
    const first = await serving(t, store);
    const push = await send(store, first.url);
    if (pushed === 'before') {
      await push(first.url);
      await until(async () => /1 revision/.test((await store.larder('status')).out));
    }
    await stop(first.running);

    const [file] = globSync(join(store.data, 'blobs/sha3/*/*'));
    const failing = await serving(t, store, file);
    if (pushed === 'while') await push(failing.url);
    await until(async () => says.test(await problemsOf(failing.places)));
    const fault = await showsEverywhere(t, failing.places, code);
    t.match(fault?.says, says);
    await stop(failing.running);

    const mended = await serving(t, store);
    await showsNowhere(t, mended.places, code, fault, { isLogged: false });
    await stop(mended.running);
  });
}

/** The sentence of the first problem, without its remedy. */
async function problemsOf(places: Places): Promise<string> {
  const [problem = ''] = (JSON.parse(await places.ask('/readyz')) as { problems: string[] }).problems;
  return problem.replace(/\. The disk may be failing.*/s, '');
}

async function stop({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

/** A store that is served with one unreadable file from the start. */
async function serving(t: Test, { data }: NewStore, unreadable?: string) {
  const running = start(t, ['serve', '--data', data, '--listen', '127.0.0.1:0']);
  if (unreadable !== undefined) {
    const inject = ['-f', '-p', String(running.child.pid), '-P', unreadable, '-e', 'inject=read,pread64:error=EIO'];
    const tracer = spawn('strace', [...inject, '-o', '/dev/null'], { stdio: ['ignore', 'ignore', 'pipe'] });
    t.teardown(() => kill(tracer));
    await once(tracer.stderr, 'data');
  }
  const [, url = ''] = await running.says(/"url":"([^"]+)"/);
  return { running, url, places: await placesOfProcesses({ data, url, log: running.err }) };
}
