// The bill of materials of a snap follows from its lists, and names its unknown parts.
import t, { type Test } from 'tap';

import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { readSnap } from '#review/snaps/snap.ts';
import type { EntryTree } from '#test/fixtures/packages/squashfs-image.ts';
import { opened, pack, snapYaml } from '../packed.ts';

const billOf = (t: Test, tree: EntryTree, more = 'base: core22\n'): BillOfMaterials =>
  readSnap(opened(t, pack(t, { 'meta/snap.yaml': snapYaml('harbour', more), ...tree })), 'harbour').bill;

const deb = (name: string, version: string) => ({ ecosystem: 'deb', name, version });

t.test('the manifest of snapcraft lists primed packages, and the packages of languages', async (t) => {
  const manifest = `snapcraft-os-release-id: ubuntu
snapcraft-os-release-version-id: '22.04'
parts:
  server:
    stage-packages: [unprimed=1]
    python-packages: [ops==2.1.0, PyYAML=6.0]
    node-packages: ['@scope/part=1.2.3']
primed-stage-packages:
- libssl3=3.0.2-0ubuntu1.10
- libc6:i386=2.35-0ubuntu3
`;
  t.same(billOf(t, { 'snap/manifest.yaml': manifest }), {
    distribution: { id: 'ubuntu', version: '22.04' },
    files: ['snap/manifest.yaml'],
    gaps: [],
    components: [
      { ...deb('libc6', '2.35-0ubuntu3'), architecture: 'i386' },
      deb('libssl3', '3.0.2-0ubuntu1.10'),
      { ecosystem: 'npm', name: '@scope/part', version: '1.2.3' },
      { ecosystem: 'pypi', name: 'PyYAML', version: '6.0' },
      { ecosystem: 'pypi', name: 'ops', version: '2.1.0' },
    ],
  });
});

t.test('without a list of primed packages the staged ones count, and without both there is a gap', async (t) => {
  const staged = 'parts:\n  a: {stage-packages: [zlib1g=1.2]}\n';
  t.match(billOf(t, { 'snap/manifest.yaml': staged }), { gaps: [], components: [deb('zlib1g', '1.2')] });
  t.match(billOf(t, { 'snap/manifest.yaml': 'name: harbour\n' }), {
    gaps: [/has no list of packages/],
    components: [],
  });
  t.match(billOf(t, { 'snap/manifest.yaml': 'primed-stage-packages: []\n' }), { gaps: [], components: [] });
});

t.test('a snap without lists is unknown, and never empty', async (t) => {
  t.match(billOf(t, {}), { files: [], gaps: [/lists none of its contents.*SNAPCRAFT_BUILD_INFO=1/], components: [] });
});

t.test('a base and a kernel list their packages for dpkg', async (t) => {
  const list = `Desired=Unknown/Install/Remove/Purge/Hold
||/ Name           Version      Architecture Description
+++-==============-============-============-===========
ii  adduser        3.118ubuntu2 all          add and remove users
ii  libc6:amd64    2.31-0ubuntu9.9 amd64     GNU C Library
hi  base-files     11ubuntu5    amd64        held
rc  removed        1.0          amd64        only its configuration is left
`;
  const base = billOf(
    t,
    { 'usr/share/snappy/dpkg.list': list, 'usr/lib/os-release': 'NAME="Ubuntu"\nVERSION_ID="20.04"\nID=ubuntu\n' },
    'type: base\n',
  );
  t.match(base, { distribution: { id: 'ubuntu', version: '20.04' }, files: ['usr/share/snappy/dpkg.list'], gaps: [] });
  t.same(base.components, [
    { ...deb('adduser', '3.118ubuntu2'), architecture: 'all' },
    { ...deb('base-files', '11ubuntu5'), architecture: 'amd64' },
    { ...deb('libc6', '2.31-0ubuntu9.9'), architecture: 'amd64' },
  ]);
  for (const file of ['usr/share/snappy/dpkg.yaml', 'dpkg.yaml'])
    t.match(billOf(t, { [file]: 'packages:\n- linux-image-generic=5.4.0.42.45\n' }, 'type: kernel\nbase: core20\n'), {
      distribution: { version: '20.04' },
      files: [file],
      components: [deb('linux-image-generic', '5.4.0.42.45')],
    });
});

t.test('a recorded recipe counts only with the versions that were staged', async (t) => {
  const recipe = (packages: string) => `parts: {daemon: {stage-packages: [${packages}]}}\n`;
  t.match(billOf(t, { 'snap/snapcraft.yaml': recipe('liblzma5=5.2.5-2ubuntu1') }, 'type: snapd\n'), {
    files: ['snap/snapcraft.yaml'],
    gaps: [],
    components: [deb('liblzma5', '5.2.5-2ubuntu1')],
  });
  t.match(billOf(t, { 'snap/snapcraft.yaml': recipe('liblzma5=5.2.5-2ubuntu1, zlib1g') }), {
    gaps: ['snap/snapcraft.yaml has 1 entry without a name and a version.'],
  });
  t.match(billOf(t, { 'snap/snapcraft.yaml': recipe('liblzma5') }), { gaps: [/lists none of its contents/] });
});

t.test('the release follows from the base, else from the build', async (t) => {
  const manifest = (version: string) =>
    `snapcraft-os-release-id: ubuntu\nsnapcraft-os-release-version-id: '${version}'\nprimed-stage-packages: []\n`;
  for (const [more, tree, version] of [
    ['base: core18\n', {}, '18.04'],
    ['base: core24\n', { 'snap/manifest.yaml': manifest('22.04') }, '24.04'],
    ['base: bare\n', { 'snap/manifest.yaml': manifest('22.04') }, '22.04'],
    ['', { 'snap/manifest.yaml': manifest('18.04') }, '18.04'],
    ['', {}, '16.04'],
  ] as const)
    t.same(billOf(t, tree, more).distribution, { id: 'ubuntu', version }, more);
  t.equal(billOf(t, {}, 'base: bare\n').distribution, null);
});

t.test('broken lists become gaps and refuse nothing', async (t) => {
  const of = (text: string | Uint8Array) => billOf(t, { 'snap/manifest.yaml': text }).gaps;
  t.same(of('primed-stage-packages: [\n'), ['snap/manifest.yaml cannot be read.']);
  t.same(of(`# ${'x'.repeat(1 << 20)}\n`), ['snap/manifest.yaml cannot be read.']);
  t.same(of('primed-stage-packages: [a, b=, =1, "c=1 2", {d: 1}, [e], "../x=1", f=1]\n'), [
    'snap/manifest.yaml has 7 entries without a name and a version.',
  ]);
  t.match(billOf(t, { 'dpkg.yaml': '[' }), { gaps: ['dpkg.yaml cannot be read.'] });
  t.match(billOf(t, { 'usr/share/snappy/dpkg.list': new Uint8Array([0xff]) }), { gaps: [/is no text of at most/] });
  t.match(billOf(t, { 'usr/share/snappy/dpkg.list': { link: '../x' } }), { gaps: [/lists none/] });
});

t.test('a list without end is cut with a gap', async (t) => {
  const packages = Array.from({ length: 20_002 }, (_, at) => `- p${String(at)}=1`).join('\n');
  const bill = billOf(t, { 'dpkg.yaml': `packages:\n${packages}\n` });
  t.equal(bill.components.length, 20_000);
  t.same(bill.gaps, ['More than 20000 components are listed; the others are left out.']);
});
