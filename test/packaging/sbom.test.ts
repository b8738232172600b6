// The bill of materials, and the licences of its components.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { ownArchitecture } from '../../packaging/runtime.ts';
import { billOfMaterials } from '../../packaging/sbom.ts';
import { thirdParties } from '../../packaging/third-party.ts';

interface Bill {
  serialNumber: string;
  components: {
    'bom-ref': string;
    group?: string;
    name: string;
    version: string;
    purl: string;
    hashes?: { alg: string; content: string }[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = join(import.meta.dirname, '../..');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as unknown;
const lock = read('package-lock.json') as {
  packages: Record<string, { version: string; integrity?: string; dev?: boolean }>;
};
const about = read('package.json') as { version: string; dependencies: Record<string, string> };

const parties = thirdParties(ownArchitecture());
const commit = '6f'.repeat(20);
const release = { version: about.version, at: new Date('2026-03-01T00:00:00Z'), commit };
const text = billOfMaterials(release, parties);
const bill = JSON.parse(text) as Bill;
const fullName = ({ group, name }: Bill['components'][number]) => (group === undefined ? name : `${group}/${name}`);

t.test('the bill is CycloneDX, and the same each time', (t) => {
  t.match(bill, {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    version: 1,
    metadata: {
      timestamp: '2026-03-01T00:00:00Z',
      component: {
        type: 'application',
        name: 'larder',
        version: about.version,
        pedigree: { commits: [{ uid: commit }] },
      },
    },
  });
  t.equal(billOfMaterials(release, thirdParties(ownArchitecture())), text);
  const later = JSON.parse(billOfMaterials({ ...release, version: '99.0.0' }, parties)) as Bill;
  t.not(later.serialNumber, bill.serialNumber, 'another bill has another number');
  t.end();
});

t.test('its components are the bundled packages, as in package-lock.json', (t) => {
  const locked = new Map(
    Object.entries(lock.packages).map(([folder, entry]) => [
      `${folder.replace(/^.*node_modules\//, '')}@${entry.version}`,
      entry,
    ]),
  );
  for (const component of bill.components) {
    const ref = `${fullName(component)}@${component.version}`;
    t.equal(component['bom-ref'], ref);
    if (['node', 'sqlite'].includes(component.name)) continue;
    const entry = locked.get(ref);
    t.ok(entry && entry.dev !== true, `${ref} is locked, and no development dependency`);
    const sha512 = component.hashes?.find(({ alg }) => alg === 'SHA-512')?.content ?? '';
    t.equal(`sha512-${Buffer.from(sha512, 'hex').toString('base64')}`, entry?.integrity, ref);
  }
  const names = bill.components.map(fullName);
  for (const name of [...Object.keys(about.dependencies), 'node', 'sqlite']) t.ok(names.includes(name), name);
  t.match(
    bill.components.find(({ name }) => name === 'node'),
    {
      version: process.version.slice(1),
      purl: `pkg:npm/node-linux-${process.arch}@${process.version.slice(1)}`,
    },
  );
  t.equal(new Set(bill.components.map((component) => component['bom-ref'])).size, bill.components.length);
  t.end();
});

t.test('the dependency graph leads from larder to each component', (t) => {
  const uses = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const reached = new Set<string>();
  const visit = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    t.ok(uses.has(ref), ref);
    for (const next of uses.get(ref) ?? []) visit(next);
  };
  visit(`larder@${about.version}`);
  t.same(
    [...reached].sort(),
    [`larder@${about.version}`, ...bill.components.map((component) => component['bom-ref'])].sort(),
  );
  t.end();
});

t.test('it names no place of any download', (t) => {
  t.notMatch(text, /https?:/);
  t.notMatch(text, root);
  t.end();
});

t.test('each has its licence with the words of it', (t) => {
  for (const { name, licence, text } of parties) {
    t.match(licence, /^[A-Za-z0-9.-]+(?: OR [A-Za-z0-9.-]+)*$/, name);
    t.ok(text.length > 60, name);
  }
  t.end();
});
