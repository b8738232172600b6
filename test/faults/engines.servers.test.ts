// Every fault of the servers that have the records and the files is produced for real, and every place is asked about it.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig, readConfig } from '#configuration/config.ts';
import type { FaultCode } from '#platform/faults.ts';
import { startHosts, type Host, type Hosts } from '#test/fixtures/processes/hosts.ts';
import { until } from '#test/fixtures/until.ts';
import { showsEverywhere, showsNowhere, type Places, type Test } from './places.ts';
import { placesOfProcesses } from './processes.ts';

t.setTimeout(1_800_000);

interface Row {
  code: FaultCode;
  says: RegExp;
  /** Causes the fault; returns a function that removes it. */
  produce(hosts: Hosts, world: { door: SwiftDoor }): Promise<() => Promise<void>>;
}

const rows: Row[] = [
  {
    code: 'engine-away',
    says: /^The database of the store does not work: until it does, requests that need it are refused/,
    async produce({ server }) {
      await server.stop('order');
      return () => server.start();
    },
  },
  {
    code: 'engine-away',
    says: /^The bucket of the store does not work \(/,
    async produce({ swift }) {
      await swift.stop();
      return () => swift.start();
    },
  },
  {
    code: 'engine-clock',
    says: /^The clock of this host is \d+\.\d seconds behind that of the bucket of the store/,
    produce(_hosts, { door }) {
      door.aheadMs = 60_000;
      return Promise.resolve(() => {
        door.aheadMs = 0;
        return Promise.resolve();
      });
    },
  },
  {
    code: 'engine-trouble',
    says: /^The bucket of the store refuses changes: /,
    async produce({ hosts: [host] }, { door }) {
      door.takesNothing = true;
      const form = '--f\r\ncontent-disposition: form-data; name="binary"; filename="a"\r\n\r\nhello\r\n--f--\r\n';
      const headers = { 'content-type': 'multipart/form-data; boundary=f' };
      await host!.ask('/unscanned-upload/', { method: 'POST', headers, body: Buffer.from(form) });
      return () => {
        door.takesNothing = false;
        return Promise.resolve();
      };
    },
  },
  {
    code: 'database-open',
    says: /^every role of the server may connect to the database \w+, and any of them can hold the lock/,
    async produce({ server, database }) {
      await server.ask(`GRANT CONNECT ON DATABASE ${database} TO PUBLIC`);
      return async () => {
        await server.ask(`REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`);
      };
    },
  },
];

t.test(
  'each fault of the servers shows at every place in the same words, and no longer once it is removed',
  async (t) => {
    const hosts = await startHosts(t, 1);
    const [host] = hosts.hosts as [Host];
    const door = await openDoor(t, hosts.swift.port);
    // The bucket is reached by the door from now on.
    const file = join(host.data, 'larder.toml');
    const address = readConfig(file).blobs.s3!;
    await host.stop();
    changeConfig(file, { 'blobs.s3': address.replace(`:${String(hosts.swift.port)}`, `:${String(door.port)}`) });
    await host.start();
    const places = await placesOfProcesses(host);
    for (const row of rows)
      await t.test(`'${row.code}': ${row.says.source}`, (t) => testRow(t, row, { hosts, places, door }));
    t.equal(await host.stop(), 0);
  },
);

async function testRow(
  t: Test,
  { code, says, produce }: Row,
  { hosts, places, door }: { hosts: Hosts; places: Places; door: SwiftDoor },
): Promise<void> {
  const shows = async (): Promise<boolean> =>
    (await readyTexts(places)).some((text) => new RegExp(says, 'i').test(text));
  const mend = await produce(hosts, { door });
  await until(shows);
  const fault = await showsEverywhere(t, places, code);
  t.match(fault?.says, says);
  await mend();
  await until(async () => !(await shows()));
  await showsNowhere(t, places, code, fault);
}

async function readyTexts(places: Places): Promise<string[]> {
  const { problems, notices } = JSON.parse(await places.ask('/readyz')) as Record<'problems' | 'notices', string[]>;
  return [...problems, ...notices];
}

interface SwiftDoor {
  port: number;
  /** Whether it refuses all writes. */
  takesNothing: boolean;
  /** How many milliseconds the server of the files is ahead of this host, as its answers say. */
  aheadMs: number;
}

const because = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>';
const forbidden =
  'HTTP/1.1 403 Forbidden\r\nContent-Type: application/xml\r\nConnection: close\r\n' +
  `Content-Length: ${String(because.length)}\r\nDate: ${new Date().toUTCString()}\r\n\r\n${because}`;

/** A proxy of the file server with a wrong clock: a header of each response carries the time. */
async function openDoor(t: Test, port: number): Promise<SwiftDoor> {
  const dated = (data: Buffer): Buffer =>
    door.aheadMs === 0
      ? data
      : Buffer.from(
          data
            .toString('latin1')
            .replace(
              /^(date: )(.{29})/gim,
              (_, name: string, at: string) => name + new Date(Date.parse(at) + door.aheadMs).toUTCString(),
            ),
          'latin1',
        );
  const listening = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => [client, upstream].map((peer) => peer.destroy()));
    client.on('data', (data: Buffer) => {
      if (door.takesNothing && data.toString('latin1', 0, 4) === 'PUT ') client.end(forbidden);
      else upstream.write(data);
    });
    upstream.on('data', (data: Buffer) => client.write(dated(data))).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => listening.close());
  const door: SwiftDoor = { port: (listening.address() as AddressInfo).port, aheadMs: 0, takesNothing: false };
  return door;
}
