// etcd, whose puts are durable before the response, as register_name is. Its gateway for JSON, and values of 300 bytes.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '#test/fixtures/free-port.ts';

export const isEtcdInstalled = (): boolean => existsSync('/usr/bin/etcd');

/** Starts an etcd of one member, with its data in a directory. */
export async function startEtcd(directory: string): Promise<{ child: ChildProcess; port: number }> {
  const [port, peers] = [await freePort(), await freePort()];
  const [address, peerAddress] = [port, peers].map((number) => `http://127.0.0.1:${String(number)}`) as [
    string,
    string,
  ];
  const child = spawn(
    '/usr/bin/etcd',
    [
      ...['--data-dir', directory, '--name', 'bench', '--log-level', 'error'],
      ...['--listen-client-urls', address, '--advertise-client-urls', address],
      ...['--listen-peer-urls', peerAddress, '--initial-advertise-peer-urls', peerAddress],
      ...['--initial-cluster', `bench=${peerAddress}`],
    ],
    { stdio: 'ignore' },
  );
  while (!(await isHealthy(address))) {
    if (child.exitCode !== null) throw new Error(`cannot measure: etcd ended with ${String(child.exitCode)}`);
    await sleep(50);
  }
  return { child, port };
}

const isHealthy = (address: string): Promise<boolean> =>
  fetch(`${address}/health`).then(
    async (response) => (await response.text()).includes('"true"'),
    () => false,
  );

/** A put under a name; the three `#` in it are digits later, which are digits of base64 too. */
export function putRequest(name: string): string {
  const key = `${Buffer.from(name.padEnd(12)).toString('base64')}0###`;
  const body = JSON.stringify({ key, value: Buffer.alloc(300, 'v').toString('base64') });
  return (
    `POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${String(body.length)}\r\n\r\n${body}`
  );
}
