// A large blob fetched from this store, and the same file from Debian's nginx, plain and over TLS with the same suite.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { changeConfig } from '#configuration/config.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import {
  busyness,
  costTo,
  median,
  medianCost,
  peakMemory,
  startServer,
  stopServer,
  type Cost,
} from './harness/measure.ts';
import { ours, push } from './registry.ts';

const rounds = 5;
const size = 512 * 1024 ** 2;
const suite = 'TLS_AES_128_GCM_SHA256';

/** The server to download from. */
interface Source {
  name: string;
  pid: number | undefined;
  port: number;
  path: string;
  isTls: boolean;
  headers: Record<string, string>;
  costs: Cost[];
}

/** Prints what each costs for a GiB, all its threads together, and the ratio of this store to nginx. */
export async function downloads(): Promise<void> {
  if (spawnSync('nginx', ['-v']).status !== 0) {
    console.log('downloads: not measured, nginx is not installed (Debian: apt install nginx)');
    return;
  }
  const plain = await filled();
  const second = await filled();
  await stopServer(second.child);
  changeConfig(join(second.directory, 'larder.toml'), { 'http.base_url': 'https://localhost:8443' });
  const overTls = await startServer<{ port: number }>('store-server.ts', second.directory);
  const nginx = await startNginx(plain.blob);
  const other = { name: 'nginx', pid: nginx.child.pid, path: '/blob', headers: {} };
  const sources: Source[] = [
    { name: 'larder', ...plain, isTls: false, costs: [] },
    { ...other, port: nginx.plain, isTls: false, costs: [] },
    { name: 'larder', ...second, pid: overTls.child.pid, port: overTls.told.port, isTls: true, costs: [] },
    { ...other, port: nginx.tls, isTls: true, costs: [] },
  ];
  try {
    for (const source of sources) await fetchAll(source);
    for (let round = 0; round < rounds; round++) {
      for (const source of sources) source.costs.push(await costTo(source.pid, () => fetchAll(source)));
    }
    console.log(`downloads of ${size / 1024 ** 2} MiB, client and server on the same cores; ${busyness()}`);
    for (const source of sources) console.log(row(source));
    for (const isTls of [false, true]) {
      const [own, theirs] = sources.filter((source) => source.isTls === isTls).map(({ costs }) => costs);
      const ratios = (own ?? []).map(({ all }, round) => (theirs?.[round]?.all ?? NaN) / all);
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
      console.log(`  nginx costs ${median(ratios).toFixed(2)} of it ${isTls ? 'over TLS' : 'plain'} (${each})`);
    }
  } finally {
    nginx.child.kill();
    await stopServer(overTls.child);
    await stopServer(plain.child);
    for (const { directory } of [plain, second, nginx]) rmSync(directory, { recursive: true, force: true });
  }
}

/** A store with one large blob, and the request that downloads it. */
export async function filled() {
  const { directory, child, pid, port, repository, headers } = await ours();
  await push({ port, repository, headers }, 1, size);
  const blob = largestFile(join(directory, 'blobs', 'sha3'));
  const digest = spawnSync('sha256sum', [blob], { encoding: 'utf8' }).stdout.slice(0, 64);
  return {
    directory,
    child,
    pid,
    port,
    blob,
    path: `/v2/${repository}/blobs/sha256:${digest}`,
    headers: await headers(),
  };
}

function row({ name, isTls, pid, costs }: Source): string {
  const perGiB = (milliseconds: number): string => ((milliseconds * 1024 ** 3) / size / 1000).toFixed(2);
  const { main, all, wall } = medianCost(costs);
  return (
    `  ${`${name} ${isTls ? 'over TLS' : 'plain'}`.padEnd(18)} ${perGiB(all)} s of CPU for a GiB (${perGiB(main)} main thread), ` +
    `${(size / 1000 / wall).toFixed(0).padStart(5)} MB/s, peak resident memory ${peakMemory(pid).toFixed(0)} MiB`
  );
}

async function fetchAll({ port, path, isTls, headers }: Source): Promise<void> {
  const where = { host: '127.0.0.1', port, path, headers, agent: false };
  const call = isTls ? requestTls({ ...where, rejectUnauthorized: false, ciphers: suite }) : requestPlain(where);
  const answered = once(call.end(), 'response') as Promise<[IncomingMessage]>;
  const [response] = await answered;
  let got = 0;
  for await (const piece of response) got += (piece as Buffer).length;
  if (got !== size) throw new Error(`cannot measure: ${response.statusCode} with ${got} bytes`);
}

function largestFile(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const places = files.map(({ parentPath, name }) => join(parentPath, name));
  return places.toSorted((one, two) => statSync(two).size - statSync(one).size)[0] ?? '';
}

/** One process that does all the work, as the store is one. */
async function startNginx(
  blob: string,
): Promise<{ child: ChildProcess; plain: number; tls: number; directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-nginx-'));
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2'];
  spawnSync('openssl', [...made, '-subj', '/CN=localhost']);
  const [plain, tls] = [await freePort(), await freePort()];
  const config = join(directory, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; user root; pid ${directory}/pid; error_log stderr crit;
     events {}
     http {
       access_log off; sendfile on;
       client_body_temp_path ${directory}/1; proxy_temp_path ${directory}/2; fastcgi_temp_path ${directory}/3;
       uwsgi_temp_path ${directory}/4; scgi_temp_path ${directory}/5;
       server { listen 127.0.0.1:${plain}; location = /blob { alias ${blob}; } }
       server {
         listen 127.0.0.1:${tls} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};
         ssl_protocols TLSv1.3; location = /blob { alias ${blob}; }
       }
     }`,
  );
  const child = spawn('nginx', ['-c', config, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await sleep(500);
  return { child, plain, tls, directory };
}
