// Snaps as they are carried into a store that trusts snapd's test roots.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stream, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { made, timestamp } from '#test/assertions/world.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { pack } from '#test/review/packed.ts';
import { larder } from '#test/cli/world.ts';
import type { FileTree } from '#test/fixtures/packages/squashfs-image.ts';

/** The account of snapd's test roots. */
export const root = 'testrootorg';

const idOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32);

export interface Carried {
  name: string;
  /** Further lines of its snap.yaml. */
  yaml: string;
  /** 7, if not said. */
  revision?: number;
  /** Further files. */
  files?: FileTree;
  /** Further headers of its declaration. */
  declared?: Headers;
}

/** The output of `snap download` in a folder: a snap, and its assertions without the root; returns its content. */
export async function carry(t: Parameters<typeof pack>[0], to: string, snap: Carried, key: Assertion): Promise<Buffer> {
  const { name, yaml, revision = 7, files = {}, declared = {} } = snap;
  const version = String(revision);
  const lines = `name: ${name}\nversion: '${version}'\nsummary: s\ndescription: d\narchitectures: [all]\n${yaml}`;
  const content = readFileSync(pack(t, { 'meta/snap.yaml': lines, ...files }));
  const of = { 'snap-id': idOf(name), timestamp };
  const assertions = [
    await made('store', root, 'snap-declaration', {
      series: '16',
      'snap-name': name,
      'publisher-id': root,
      ...of,
      ...declared,
    }),
    await made('store', root, 'snap-revision', {
      'snap-sha3-384': createHash('sha3-384').update(content).digest('base64url'),
      'snap-size': String(content.length),
      'snap-revision': version,
      'developer-id': root,
      ...of,
    }),
  ];
  writeFileSync(join(to, `${name}_${version}.snap`), content);
  writeFileSync(join(to, `${name}_${version}.assert`), stream([key, ...assertions]));
  return content;
}

/** Imports the snap of a folder and releases it to stable. */
export async function takeIn(store: TestAppliance, stick: string): Promise<void> {
  const { code, out, err } = await larder(`package import ${stick} --release stable`, {
    env: { LARDER_DATA: store.directory },
  });
  if (code !== 0) throw new Error(out + err);
}
