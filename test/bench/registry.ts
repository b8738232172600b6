// A large blob sent to the image registry of this store, and to Debian's docker-registry, in the same run.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '#test/fixtures/free-port.ts';
import { median, startServer, stopServer } from './harness/measure.ts';
import { fillStore } from './harness/store.ts';

const rounds = 3;
const size = 2 * 1024 ** 3;
const chunk = Buffer.alloc(1024 * 1024, 'larder ');

interface Peer {
  name: string;
  port: number;
  pid: number;
  repository: string;
  headers: () => Promise<Record<string, string>>;
  stop: () => Promise<void>;
  /** Makes the uploaded blob durable; the peer itself leaves that to the kernel. */
  sync?: () => void;
}

/** Prints the throughput of both, their ratio round by round, and the peak of resident memory. */
export async function registry(): Promise<void> {
  if (spawnSync('docker-registry', ['--version']).status !== 0) {
    console.log('image registry: not measured, docker-registry is not installed (Debian: apt install docker-registry)');
    return;
  }
  const peers = [await ours(), await debians()];
  const took = peers.map((): number[] => []);
  const worked = peers.map((): number[] => []);
  const synced: number[] = [];
  try {
    for (const peer of peers) await push(peer, 0, chunk.length);
    for (let round = 1; round <= rounds; round++) {
      for (const [at, peer] of peers.entries()) {
        const before = cpuSeconds(peer.pid);
        const seconds = await push(peer, round, size);
        took[at]?.push(seconds);
        worked[at]?.push(cpuSeconds(peer.pid) - before);
        const began = performance.now();
        if (peer.sync === undefined) continue;
        peer.sync();
        synced.push(seconds + (performance.now() - began) / 1000);
      }
    }
    const [own = [], others = []] = took;
    const ratiosTo = (times: number[]): number[] => times.map((time, round) => time / (own[round] ?? NaN));
    const format = (ratios: number[]): string =>
      `${median(ratios).toFixed(2)} (of ${rounds} rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`;
    console.log(
      `image registry: a blob of ${size / 1024 ** 3} GiB by POST, PATCH and PUT, client and server on the same cores`,
    );
    for (const [at, { name, pid }] of peers.entries()) {
      const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024;
      const speed = size / 1e6 / median(took[at] ?? []);
      console.log(
        `  ${name.padEnd(28)} ${speed.toFixed(0).padStart(5)} MB/s   ${median(worked[at] ?? []).toFixed(1)} s of CPU   ` +
          `peak resident memory ${peak.toFixed(0)} MiB`,
      );
    }
    console.log(`  the same, then synced        ${(size / 1e6 / median(synced)).toFixed(0).padStart(5)} MB/s`);
    const [ownWork = [], theirWork = []] = worked;
    const [all, theirs, sha3] = [median(ownWork), median(theirWork), sha3Alone()];
    console.log(
      `  ${(all / theirs).toFixed(2)} of its CPU; without the sha3-384 that it does not make, ${sha3.toFixed(1)} s, ` +
        ((all - sha3) / theirs).toFixed(2),
    );
    console.log(`  ratio to it as it is ${format(ratiosTo(others))}; to it synced ${format(ratiosTo(synced))}`);
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

/** The processor time of a process so far, of all its threads: it is comparable on a busy machine too. */
function cpuSeconds(pid: number): number {
  const [, fields = ''] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) / 100;
}

/** The cost of the name that this store uses for content, beside the digest of clients. */
function sha3Alone(): number {
  const digest = createHash('sha3-384');
  const before = cpuSeconds(process.pid);
  for (let hashed = 0; hashed < size; hashed += chunk.length) digest.update(chunk);
  digest.digest();
  return cpuSeconds(process.pid) - before;
}

/** This store, with credentials put in straight through the records. */
export async function ours(): Promise<Peer & { directory: string; child: ChildProcess }> {
  const { directory, store, accountId, packageIds } = await fillStore(1, 1);
  const { sessionId } = await store.authority.issue({ accountId }, { actor: 'bench' });
  const [packageId = ''] = packageIds;
  const login = { id: 'push-bench', password: 'a password of a benchmark' };
  const issuedAt = new Date().toISOString();
  await store.records.change({ at: issuedAt, actor: 'bench', action: 'fill', object: 'store' }, (tx) =>
    tx.imageCredentials.addToPush(
      { packageId, resource: 'image' },
      { id: login.id, secretSha256: hash('sha256', login.password), accountId, sessionId, issuedAt },
    ),
  );
  await store.close();
  const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', directory);
  const repository = `images/${packageId.toLowerCase()}/image`;
  return {
    name: 'larder, hashed and synced',
    directory,
    child,
    port: ready.port,
    pid: child.pid ?? 0,
    repository,
    async headers() {
      const { body } = await ask(ready.port, 'GET', `/registry/token?scope=repository:${repository}:pull,push`, {
        authorization: `Basic ${Buffer.from(`${login.id}:${login.password}`).toString('base64')}`,
      });
      return { authorization: `Bearer ${(JSON.parse(body) as { token: string }).token}` };
    },
    async stop() {
      await stopServer(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function debians(): Promise<Peer> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  const port = await freePort();
  const config = join(directory, 'config.yml');
  writeFileSync(
    config,
    `version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: ${join(directory, 'data')}\nhttp:\n  addr: 127.0.0.1:${port}\n`,
  );
  const child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries++) {
    const isReachable = await ask(port, 'GET', '/v2/').then(
      () => true,
      () => false,
    );
    if (isReachable) break;
    await sleep(100);
  }
  return {
    name: "Debian's docker-registry",
    port,
    pid: child.pid ?? 0,
    repository: 'bench/image',
    headers: async () => ({}),
    sync: () => void spawnSync('sync', ['-f', directory]),
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Sends a blob as clients of registries do; `round` makes each content another one. The seconds it took. */
export async function push(
  { port, repository, headers }: Pick<Peer, 'port' | 'repository' | 'headers'>,
  round: number,
  bytes: number,
): Promise<number> {
  const first = Buffer.from(chunk);
  first.writeUInt32BE(round);
  function* content(): Generator<Buffer> {
    for (let sent = 0; sent < bytes; sent += chunk.length) yield sent === 0 ? first : chunk;
  }
  const digest = createHash('sha256');
  for (const part of content()) digest.update(part);
  const sent = await headers();

  const began = performance.now();
  const begun = await ask(port, 'POST', `/v2/${repository}/blobs/uploads/`, sent);
  const patched = await ask(
    port,
    'PATCH',
    pathOf(begun),
    { ...sent, 'content-length': String(bytes) },
    Readable.from(content()),
  );
  const done = await ask(port, 'PUT', `${pathOf(patched)}&digest=sha256:${digest.digest('hex')}`, sent);
  if (done.status !== 201) throw new Error(`cannot measure: ${done.status} ${done.body.slice(0, 500)}`);
  return (performance.now() - began) / 1000;
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

const pathOf = ({ headers: { location = '' } }: Reply): string => {
  const { pathname, search } = new URL(location, 'http://127.0.0.1');
  return pathname + search;
};

async function ask(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Readable,
): Promise<Reply> {
  const call = request({ host: '127.0.0.1', port, method, path, headers });
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  await Promise.all([answered, body === undefined ? call.end() : pipeline(body, call)]);
  const [response] = await answered;
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += String(part);
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}
