// Writes the bill of materials, CycloneDX 1.6, from package-lock.json and the bundle. The same sources give the same
// text: the serial number is a digest of the content, and the time is the time of the release.
import { createHash } from 'node:crypto';

import type { ThirdParty } from './third-party.ts';

export interface Release {
  version: string;
  /** When it was released. */
  at: Date;
  /** The commit that it was built from, if the sources have a history. */
  commit: string | undefined;
}

export function billOfMaterials({ version, at, commit }: Release, parties: readonly ThirdParty[]): string {
  const refs = new Map(parties.map((party) => [party.folder, refOf(party)]));
  const self = `larder@${version}`;
  const uses = new Map<string, Set<string>>([[self, new Set(topLevel(parties).map(refOf))]]);
  // The same version in two folders is one component.
  const components = new Map<string, object>();
  for (const party of parties) {
    const ref = refOf(party);
    components.set(ref, componentOf(party));
    const used = uses.get(ref) ?? new Set<string>();
    for (const folder of party.uses) used.add(refs.get(folder)!);
    uses.set(ref, used);
  }
  const about = {
    version: 1,
    metadata: {
      timestamp: at.toISOString().replace('.000Z', 'Z'),
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': self,
        name: 'larder',
        version,
        description: 'A package store for sites without internet',
        licenses: [{ license: { id: 'Apache-2.0' } }],
        ...(commit !== undefined && { pedigree: { commits: [{ uid: commit }] } }),
      },
    },
    components: [...components.values()],
    dependencies: [...uses].map(([ref, used]) => ({ ref, dependsOn: [...used].sort() })),
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(about))}`;
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, ...about }, undefined, 2)}\n`;
}

const refOf = ({ name, version }: ThirdParty): string => `${name}@${version}`;

/** The direct dependencies of larder, and packages without another user. */
const topLevel = (parties: readonly ThirdParty[]): ThirdParty[] => {
  const used = new Set(parties.flatMap(({ uses }) => uses));
  return parties.filter(({ folder, isDirect }) => isDirect || !used.has(folder));
};

function componentOf({ name, version, kind, licence, hashes, folder }: ThirdParty): object {
  const [group, bare = name] = name.startsWith('@') ? name.split('/') : [];
  const source = kind === 'runtime' ? folder.slice(folder.lastIndexOf('/') + 1) : name;
  return {
    type: kind === 'runtime' ? 'platform' : 'library',
    'bom-ref': `${name}@${version}`,
    ...(group !== undefined && { group }),
    name: bare,
    version,
    scope: 'required',
    ...(hashes.length > 0 && { hashes }),
    licenses: [/ (?:OR|AND|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    purl: kind === 'library' ? `pkg:generic/${name}@${version}` : `pkg:npm/${source.replace('@', '%40')}@${version}`,
  };
}

/** A UUID of version 8: its bits are taken from a digest. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
