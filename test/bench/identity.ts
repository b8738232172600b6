// Tokens and logins: the cost of a token check beside the bare chain of HMACs, and the effect of a hundred concurrent
// logins on other clients.
import { createHmac } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';

import { days } from '#domain/clock.ts';
import { sitePasswords } from '#identity/identity.ts';
import { readTerms } from '#macaroons/caveats.ts';
import { createAuthority } from '#macaroons/authority.ts';
import { conditionsOf, signatureMatches, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { median, startServer, stopServer } from './harness/measure.ts';
import { fillStore } from './harness/store.ts';

export async function identity(): Promise<void> {
  await tokens();
  await logins();
}

const rounds = 21;
const count = 3000;

/** Prints microseconds of processor time for each token; the machine may be busy with other things. */
async function tokens(): Promise<void> {
  const { directory, store, accountId } = await fillStore(0, 0);
  const { records, acts, rootKeys, dischargerKeys, latestTime, newId } = store;
  const restrictions = {
    permissions: ['package-view' as const, 'package-manage' as const],
    channels: ['latest/edge'],
    packages: [{ type: 'snap' as const, name: 'hello' }],
  };
  const texts: string[] = [];
  for (let at = 0; at < count; at++) {
    texts.push((await store.authority.issue({ accountId, ...restrictions }, { actor: 'bench' })).token);
  }
  const { key } = await rootKeys.current();
  const chains = texts.map((text) => partsOf(readToken(text)!));

  const each: Record<'plain' | 'bare' | 'proof' | 'first' | 'cached', number[]> = {
    plain: [],
    bare: [],
    proof: [],
    first: [],
    cached: [],
  };
  for (let round = 0; round < rounds; round++) {
    const location = (): string => 'http://127.0.0.1:8080';
    const parts = { records, acts, rootKeys, dischargerKeys, latestTime, newId, location };
    const authority = createAuthority({
      ...parts,
      longestLife: () => days(365),
      requiresTotp: () => false,
      certificateRoles: () => [],
      sessionRules: () => ({ idleMs: days(1), maxAgeMs: days(1), maxPerAccount: undefined }),
    });
    each.plain.push(cost(() => chains.forEach((parts) => plainChain(key, parts))));
    each.bare.push(cost(() => chains.forEach((parts) => bareChain(key, parts))));
    each.proof.push(cost(() => texts.forEach((text) => proof(text, key))));
    each.first.push(
      await costOf(async () => {
        for (const text of texts) await authority.authenticate([text]);
      }),
    );
    each.cached.push(
      await costOf(async () => {
        for (const text of texts) await authority.authenticate([text]);
      }),
    );
  }
  await store.close();
  rmSync(directory, { recursive: true, force: true });

  const ratio = (side: 'proof' | 'first', to: 'plain' | 'bare'): string =>
    median(each[side].map((time, at) => time / each[to][at]!)).toFixed(2);
  const shown = (side: keyof typeof each): string => median(each[side]).toFixed(1).padStart(7);
  console.log(`tokens: six caveats, ${count} tokens, median of ${rounds} rounds, microseconds of processor time each`);
  console.log(`  the chain of HMACs alone     ${shown('plain')}   as node:crypto documents it`);
  console.log(`  the same at its quickest     ${shown('bare')}   with keys as latin1 text`);
  console.log(
    `  read, proven and understood  ${shown('proof')}   ratio ${ratio('proof', 'plain')} (at most 1.30); to the quickest ${ratio('proof', 'bare')}`,
  );
  console.log(
    `  the same with its session    ${shown('first')}   ratio ${ratio('first', 'plain')}; to the quickest ${ratio('first', 'bare')}`,
  );
  console.log(`  again, from the cache        ${shown('cached')}   (at most 10), its session read from the records`);
}

const partsOf = ({ identifier, caveats }: DecodedMacaroon): Buffer[] => [
  identifier,
  ...caveats.map((caveat) => caveat.identifier),
];

/** The lower bound: the same primitive in its fastest form, without any other work. */
function bareChain(rootKey: Buffer, parts: Buffer[]): Buffer {
  let signature = hmac(rootKey.toString('latin1'), Buffer.from('macaroons-key-generator'));
  for (const part of parts) signature = hmac(signature, part);
  return Buffer.from(signature, 'latin1');
}

const latin1 = { encoding: 'latin1' } as const;
const hmac = (key: string, data: Buffer): string => createHmac('sha256', key, latin1).update(data).digest('binary');

/** The same with keys as buffers, as one would write it first. */
function plainChain(rootKey: Buffer, parts: Buffer[]): Buffer {
  let signature: Buffer = createHmac('sha256', 'macaroons-key-generator').update(rootKey).digest();
  for (const part of parts) signature = createHmac('sha256', signature).update(part).digest();
  return signature;
}

/** The work of the authority for a token that it does not know yet, without the query of the records. */
function proof(text: string, key: Buffer): void {
  const macaroon = readToken(text);
  const conditions = macaroon && signatureMatches(macaroon, key) ? conditionsOf(macaroon) : undefined;
  if (conditions === undefined || readTerms(conditions, '2') === undefined)
    throw new Error('cannot prove a token of the benchmark');
}

/** Microseconds of processor time for each of the tokens. */
function cost(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / count;
}

async function costOf(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / count;
}

/** Prints how long /healthz takes while a hundred people log in at once, again and again, and how much memory that takes. */
async function logins(): Promise<void> {
  const { directory, store, accountId } = await fillStore(0, 0);
  const hash = await sitePasswords(store.siteKey).hash('four words of ada');
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'account' }, (tx) =>
    tx.passwords.set(accountId, hash, at),
  );
  await store.close();
  const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', directory);
  const url = `http://127.0.0.1:${ready.port}`;
  const caveat = await ssoCaveat(url);
  const body = JSON.stringify({ email: 'ada@example.com', password: 'four words of ada', caveat_id: caveat });
  const logIn = async (): Promise<number> => {
    const reply = await fetch(`${url}/api/v2/tokens/discharge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const health = async (): Promise<number> => {
    const started = performance.now();
    await (await fetch(`${url}/healthz`)).arrayBuffer();
    return performance.now() - started;
  };
  for (let warm = 0; warm < 5; warm++) await Promise.all([logIn(), health()]);
  const before = memory(child.pid!);

  const times: number[] = [];
  let peak = before;
  const watch = { over: false };
  const watching = (async () => {
    while (!watch.over) {
      times.push(await health());
      peak = Math.max(peak, memory(child.pid!));
    }
  })();
  const statuses = new Map<number, number>();
  for (let wave = 0; wave < 5; wave++) {
    for (const status of await Promise.all(Array.from({ length: 100 }, logIn)))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  watch.over = true;
  await watching;
  await stopServer(child);
  rmSync(directory, { recursive: true, force: true });
  times.sort((a, b) => a - b);
  const p = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN).toFixed(1);
  const answers = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');
  console.log('logins: a hundred at once, five times; the rest of the queue of 34 is told to come again');
  console.log(`  answers ${answers}`);
  console.log(
    `  /healthz meanwhile           p50 ${p(0.5)} ms   p99 ${p(0.99)} ms (at most 250), ${times.length} requests`,
  );
  console.log(`  memory                       ${((peak - before) / 1024).toFixed(0)} MB more (at most 100)`);
}

async function ssoCaveat(url: string): Promise<string> {
  const issued = await fetch(`${url}/v1/tokens/usso`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { macaroon } = (await issued.json()) as { macaroon: string };
  const caveat = readToken(macaroon)!.caveats.find(({ verificationId }) => verificationId !== undefined);
  return caveat!.identifier.toString();
}

/** Resident memory of a process, in KiB. */
const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);

if (process.argv[1] === import.meta.filename) await identity();
