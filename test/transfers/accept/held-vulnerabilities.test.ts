// A transfer that would give devices a revision with a vulnerability that the approval policy names waits for people.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { rock, tar } from '#test/fixtures/packages/archives.ts';
import { osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { example, goodNow, helloWith, seedOf, written } from '../statement/example.ts';

t.setTimeout(600_000);

const advisory = {
  id: 'UBUNTU-CVE-2026-1001',
  upstream: ['CVE-2026-1001'],
  severity: [{ type: 'Ubuntu', score: 'critical' }],
  fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2' },
};

/** A layer that unpacks to more than the review of a push reads. */
const largeLayer = (): Buffer => {
  const megabyte = gzipSync(Buffer.alloc(1 << 20));
  const header = gzipSync(tar([{ name: 'data', size: 257 << 20 }]).subarray(0, 512));
  return Buffer.concat([header, ...Array.from({ length: 257 }, () => megabyte), gzipSync(Buffer.alloc(1024))]);
};

/** A rock of Ubuntu with a version of openssl. */
const rockOf = (version: string, ...more: Uint8Array[]) => {
  const status = `Package: openssl\nStatus: install ok installed\nArchitecture: amd64\nVersion: ${version}\n`;
  const layer = tar([
    { name: 'usr/lib/os-release', content: 'ID=ubuntu\nVERSION_ID="22.04"\n' },
    { name: 'var/lib/dpkg/status', content: status },
  ]);
  return rock('hello', { layers: [layer, ...more] });
};

t.test(
  'a vulnerability ends automatic acceptance, and a transfer and its withdrawal wait for the people of the rule',
  async (t) => {
    const { run, judge, store } = await askingSite(
      t,
      'vulnerabilities = ["1 of B, C, D for critical in rock/*:*/stable"]',
    );
    const stick = folder(t);
    let proposals = 0;
    const approved = async (line: string, reason = /Waits for 1 more approval/): Promise<void> => {
      t.match(await run(line), { code: 1, err: reason }, line);
      t.match(await judge('approve', ['bob', 'carol', 'dave'][proposals]!, ++proposals), { code: 0 });
      t.match(await run(line), { code: 0 }, line);
    };
    await run('site init site-b');
    const { publicKey } = seedOf(1);
    const identity = join(stick, 'depot.json');
    writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
    await approved(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --accept automatic`);
    const feed = join(stick, 'ubuntu.zip');
    writeFileSync(feed, osvZip([advisory]));
    t.match(await run(`feed import ${feed}`), { code: 0 });

    const files = [rockOf('3.0.2'), rockOf('3.0.1', largeLayer()), rockOf('3.0.3')];
    const hello = helloWith(files);
    /** Receives a transfer with all revisions up to one, which it releases. */
    const receive = async (revision: number) => {
      const at = new Date().toISOString();
      const release = { channel: 'latest/stable', slot: '*', revision, 'released-at': at };
      const revisions = hello.revisions.slice(0, revision);
      const packages = [
        { ...hello, namespace: 'rock' as const, type: 'rock', id: 'h'.repeat(32), revisions, channels: [release] },
      ];
      const transfer = example(files.slice(0, revision), { ...goodNow(), sequence: revision, packages });
      const [part = ''] = await written(transfer, folder(t));
      const { code, out, err } = await run(`transfer receive ${part} --json`);
      if (code !== 0) throw new Error(err);
      return { id: idOf(transfer.bytes), came: JSON.parse(out) as Record<string, unknown> };
    };
    const stable = async () =>
      (await store.beside.records.releases.held('h'.repeat(32))).map(({ channel, revision }) => [channel, revision]);

    const first = await receive(1);
    t.match(first.came, { why: 'rock/hello is new here.' });
    t.match(await run(`transfer accept ${first.id} --yes`), { code: 0 }, 'it has no finding');

    const second = await receive(2);
    t.match(second.came, {
      why: /asks about critical vulnerabilities: rock\/hello:latest\/stable, revision 2 has CVE-2026-1001\./,
    });
    t.same(await stable(), [['latest/stable', 1]]);
    await approved(`transfer accept ${second.id} --yes`);
    t.same(await stable(), [['latest/stable', 2]]);

    const third = await receive(3);
    t.match(third.came, { automatic: /are accepted automatically/ }, 'the next one has no finding again');
    t.same(await stable(), [['latest/stable', 3]]);
    await approved(`transfer withdraw ${third.id} --yes`);
    t.same(await stable(), [['latest/stable', 2]], 'a rollback gives it to devices again');
  },
);
