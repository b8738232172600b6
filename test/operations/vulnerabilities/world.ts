// A store with packages whose contents are known, partly known and unknown, and with feeds about them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { recordFindingsOfPackages } from '#jobs/vulnerabilities/record-findings.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { charm, rock, tar } from '#test/fixtures/packages/archives.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import {
  kevCatalog,
  osvZip,
  vexDocument,
  type AdvisorySketch,
  type VexSketch,
} from '#test/fixtures/vulnerabilities/feeds.ts';

export const oldSsl = '3.0.2-0ubuntu1.1';
export const newSsl = '3.0.2-0ubuntu1.20';

/** A snap with a list of its packages of Ubuntu; without the list if it is undefined. */
export const snapOf = (name: string, version: string, packages?: string, base = 'core22') =>
  squashfsImage({
    'meta/snap.yaml': `name: ${name}\nversion: '${version}'\nbase: ${base}\n`,
    ...(packages !== undefined && { 'snap/manifest.yaml': `primed-stage-packages: [${packages}]\n` }),
  });

/** A vulnerability of openssl in Ubuntu 22.04, fixed in `newSsl`. */
export const advisory = (number: number, severity = 'high'): AdvisorySketch => ({
  id: `UBUNTU-CVE-2026-${String(number)}`,
  upstream: [`CVE-2026-${String(number)}`],
  severity: [{ type: 'Ubuntu', score: severity }],
  fixes: { 'Ubuntu:22.04:LTS openssl': newSsl },
  binaries: { libssl3: newSsl },
});

export interface FindingWorld {
  store: TestAppliance;
  ada: Client;
  root: Client;
  larder: ReturnType<typeof commandsOn>['larder'];
  json: ReturnType<typeof commandsOn>['json'];
  /** Imports a feed of advisories, the exploited vulnerabilities, or a VEX document, and matches all revisions. */
  advisories(list: readonly AdvisorySketch[]): Promise<void>;
  /** Imports a feed of advisories, and matches nothing. */
  unmatched(list: readonly AdvisorySketch[]): Promise<void>;
  exploited(cves: readonly string[]): Promise<void>;
  vex(statements: readonly VexSketch[], timestamp?: string): Promise<void>;
  /** Records the findings of all packages, as the job does. */
  record(): Promise<Record<string, unknown>>;
}

interface Test {
  teardown(work: () => unknown): void;
}

/** A store for tests of findings. */
export async function findingWorld(t: Test, configure?: (text: string) => string): Promise<FindingWorld> {
  return withFeeds(t, await startStore(t, configure, new Date('2026-05-01T12:00:00.000Z')));
}

/** Feeds for a started store. */
export async function withFeeds(t: Test, store: TestAppliance): Promise<FindingWorld> {
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const commands = commandsOn(store.directory);
  const files = folder(t);
  let number = 0;
  const bring = async (content: string | Uint8Array, ...more: string[]): Promise<void> => {
    const file = join(files, `${String(++number)}.feed`);
    writeFileSync(file, content);
    for (const line of [`feed import ${file}`, ...more]) {
      const { code, err } = await commands.larder(line);
      if (code !== 0) throw new Error(`${line}: ${err}`);
    }
  };
  const { records, acts } = store.beside;
  const recorder = recordFindingsOfPackages({ records, acts, now: () => store.clock.now, remember: () => true });
  return {
    store,
    ada,
    root,
    larder: commands.larder,
    json: commands.json,
    advisories: (list) => bring(osvZip(list), 'feed match'),
    unmatched: (list) => bring(osvZip(list)),
    exploited: (cves) => bring(kevCatalog(cves), 'feed match'),
    record: () => recorder.run(),
    vex: (statements, timestamp = '2026-04-28T09:00:00Z') =>
      bring(vexDocument(statements, { timestamp }), 'feed match'),
  };
}

/** Registers a package of ada, pushes its contents, and releases each to a channel. */
export async function publish(
  { ada }: Pick<FindingWorld, 'ada'>,
  namespace: string,
  name: string,
  contents: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  await ada.post(`/v1/${namespace}`, { name });
  let revision = 0;
  for (const [channel, content] of Object.entries(contents)) {
    await ada.push(namespace, name, content);
    const release = { channel, revision: ++revision };
    const { status, body } = await ada.post(`/v1/${namespace}/${name}/releases`, [release]);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
}

export const charmOf = (name: string) => charm(name, { 'requirements.txt': 'ops==2.1.0\n' });
export const alpineRock = (name: string) =>
  rock(name, { layers: [tar([{ name: 'lib/apk/db/installed', content: 'P:musl\nV:1.2.4-r2\n' }])] });

export const oldSslStatus = `Package: libssl3\nSource: openssl\nStatus: install ok installed\nVersion: ${oldSsl}\n`;

/** A layer of Ubuntu 22.04 with packages as dpkg lists them; by default an openssl that is not fixed. */
export const ubuntuLayer = (packages = oldSslStatus): string =>
  tar([
    { name: 'usr/lib/os-release', content: 'ID=ubuntu\nVERSION_ID="22.04"\n' },
    { name: 'var/lib/dpkg/status', content: packages },
  ]).toString();

/** Makes a pushed image the next revision of the resource `image` of ada's charm. */
export async function pushImageResource(
  { store, ada }: Pick<FindingWorld, 'store' | 'ada'>,
  charmName: string,
  digest: string,
): Promise<void> {
  const at = `/v1/charm/${charmName}/resources/image`;
  const { body } = await ada.post(`${at}/oci-image/blob`, { 'image-digest': digest });
  const upload = await ada.upload(JSON.stringify(body));
  await ada.post(`${at}/revisions`, { 'upload-id': upload, type: 'oci-image' });
  await store.appliance.reviewed();
}
