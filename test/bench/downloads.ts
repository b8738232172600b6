// A large blob fetched from this store, through an nginx that sends the file, and from Debian's nginx alone, plain and over TLS with the
// same suite.
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
  /** The second process, if two answer together. */
  storePid?: number | undefined;
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
  await stopServer(plain.child);
  const trusted = { 'http.trusted_proxies': ['127.0.0.1'], 'http.nginx_location': '/larder-blobs' };
  changeConfig(join(plain.directory, 'larder.toml'), trusted);
  const alone = await startServer<{ port: number }>('store-server.ts', plain.directory);
  Object.assign(plain, { child: alone.child, pid: alone.child.pid, port: alone.told.port });
  const nginx = await startNginx(plain);
  const other = { name: 'nginx', pid: nginx.child.pid, path: '/blob', headers: {} };
  const sources: Source[] = [
    { name: 'larder', ...plain, isTls: false, costs: [] },
    { ...plain, name: 'both', pid: nginx.child.pid, storePid: plain.pid, port: nginx.plain, isTls: false, costs: [] },
    { ...other, port: nginx.plain, isTls: false, costs: [] },
    { name: 'larder', ...second, pid: overTls.child.pid, port: overTls.told.port, isTls: true, costs: [] },
    { ...other, port: nginx.tls, isTls: true, costs: [] },
  ];
  try {
    // Twice: nginx sends a file only after the store has verified it.
    for (const source of [...sources, ...sources]) await fetchAll(source);
    for (let round = 0; round < rounds; round++) {
      for (const source of sources) source.costs.push(await costOf(source));
    }
    console.log(`downloads of ${size / 1024 ** 2} MiB, client and server on the same cores; ${busyness()}`);
    for (const source of sources) console.log(row(source));
    for (const [name, isTls] of [
      ['both', false],
      ['nginx', false],
      ['nginx', true],
    ] as const) {
      const [own, theirs] = ['larder', name].map(
        (each) => sources.find((s) => s.name === each && s.isTls === isTls)?.costs,
      );
      const ratios = (own ?? []).map(({ all }, round) => (theirs?.[round]?.all ?? NaN) / all);
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
      console.log(`  ${name} costs ${median(ratios).toFixed(2)} of it ${isTls ? 'over TLS' : 'plain'} (${each})`);
    }
  } finally {
    nginx.child.kill();
    await stopServer(overTls.child);
    await stopServer(plain.child);
    for (const { directory } of [plain, second, nginx]) rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the cost of a download for both processes together. */
async function costOf(source: Source): Promise<Cost> {
  const { pid, storePid } = source;
  if (storePid === undefined) return costTo(pid, () => fetchAll(source));
  let ofStore = NaN;
  const cost = await costTo(pid, async () => {
    ofStore = (await costTo(storePid, () => fetchAll(source))).all;
  });
  return { ...cost, all: cost.all + ofStore };
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

export async function fetchAll({
  port,
  path,
  isTls,
  headers,
}: Pick<Source, 'port' | 'path' | 'isTls' | 'headers'>): Promise<void> {
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
  return places.toSorted((first, two) => statSync(two).size - statSync(first).size)[0] ?? '';
}

/** One process that does all the work, as the store is one. */
async function startNginx({
  directory: data,
  port,
  blob,
}: Pick<Awaited<ReturnType<typeof filled>>, 'directory' | 'port' | 'blob'>): Promise<{
  child: ChildProcess;
  plain: number;
  tls: number;
  directory: string;
}> {
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
       server {
         listen 127.0.0.1:${plain}; location = /blob { alias ${blob}; }
         location / {
           proxy_pass http://127.0.0.1:${port}; proxy_set_header Host $http_host;
           proxy_set_header X-Sendfile-Type X-Accel-Redirect;
         }
         location /larder-blobs/ { internal; alias ${data}/blobs/sha3/; }
       }
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
