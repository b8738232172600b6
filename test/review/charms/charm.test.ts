// Reading of valid charms, bundles and rocks.
import t from 'tap';

import { readBundle, readCharm } from '#review/charms/charm.ts';
import { readRock } from '#review/images/rock.ts';
import { readSnapYaml } from '#review/snaps/snap-yaml.ts';
import type { UploadBytes } from '#review/squashfs/source.ts';
import { charm, rock, zip } from '#test/fixtures/packages/archives.ts';

const source = (bytes: Buffer): UploadBytes => ({
  size: bytes.length,
  read: (position, length) => new Uint8Array(bytes.subarray(position, position + length)),
});

t.test('a charm states its bases, its resources and the source of its build', (t) => {
  const resources =
    'display-name: Hello\nresources:\n  a: {type: file, filename: x}\n  b: {type: oci-image, optional: true}\n';
  const files = { version: '1.2-3-gabc\n', 'actions.yaml': 'greet: {}', 'config.yaml': 'options: {}' };
  t.match(readCharm(source(charm('hello', files, resources)), 'hello'), {
    name: 'hello',
    version: '1.2-3-gabc',
    title: 'Hello',
    summary: 'A greeter',
    description: 'Greets.',
    bases: [
      { name: 'ubuntu', channel: '22.04', architecture: 'amd64' },
      { name: 'ubuntu', channel: '22.04', architecture: 'arm64' },
    ],
    resources: [
      { name: 'a', type: 'file', optional: false },
      { name: 'b', type: 'oci-image', optional: true },
    ],
    packageYaml: /^name: hello/,
    craftYaml: /^type: charm/,
  });
  t.end();
});

const metadata = 'name: hello\nsummary: s\ndescription: d\n';

t.test('a charm without a manifest runs everywhere', (t) => {
  const everywhere = [{ architecture: 'all', channel: 'all', name: 'all' }];
  t.same(readCharm(source(zip({ 'metadata.yaml': metadata })), 'hello').bases, everywhere);
  t.end();
});

t.test('a base has the track of its channel, and architectures as juju calls them', (t) => {
  const manifest =
    'bases: [{name: ubuntu, channel: 18.04/stable, architectures: [x86_64, aarch64]}, {name: ubuntu, channel: "22.04"}]';
  t.same(readCharm(source(charm('hello', { 'manifest.yaml': manifest })), 'hello').bases, [
    { architecture: 'amd64', channel: '18.04', name: 'ubuntu' },
    { architecture: 'arm64', channel: '18.04', name: 'ubuntu' },
    { architecture: 'all', channel: '22.04', name: 'ubuntu' },
  ]);
  t.end();
});

t.test('links within a charm are no harm', (t) => {
  const content = zip([
    { name: 'metadata.yaml', content: metadata },
    { name: 'hooks/', mode: 0o040755 },
    { name: 'hooks/install', content: '../dispatch', mode: 0o120777 },
    { name: 'dispatch', content: 'x', mode: 0o100755 },
  ]);
  t.equal(readCharm(source(content), 'hello').name, 'hello');
  t.end();
});

t.test('a bundle states the charms that it deploys', (t) => {
  const bundle = {
    'bundle.yaml': 'description: Both.\napplications: {a: {charm: a}}',
    'charmcraft.yaml': 'type: bundle',
    'README.md': '# Both',
  };
  t.match(readBundle(source(zip(bundle)), 'both'), {
    name: 'both',
    description: 'Both.',
    resources: [],
    catalogFacts: { categories: [], license: null },
    craftYaml: 'type: bundle',
  });
  const sort = 'license: MIT\ntags: [databases, cache, databases]\napplications: {a: {charm: a}}';
  const catalogFacts = { categories: ['databases', 'cache'], license: 'MIT' };
  t.match(readBundle(source(zip({ 'bundle.yaml': sort, 'README.md': '' })), 'both'), { catalogFacts });
  const nonsense = `license: {a: b}\ncategories: [${'x'.repeat(65)}, "a b", web]\n`;
  t.match(readCharm(source(charm('hello', {}, nonsense)), 'hello'), {
    catalogFacts: { categories: ['web'], license: null },
  });
  const tags = Array.from({ length: 30 }, (_, number) => `t${number}`);
  const { catalogFacts: many } = readCharm(source(charm('hello', {}, `tags: [${tags.join(', ')}]\n`)), 'hello');
  t.same(many.categories, tags.slice(0, 20));
  t.throws(() => readBundle(source(charm('both')), 'both'), {
    message: "The file is a charm, but 'both' is the name of a bundle. Push it to a name of the type charm.",
  });
  t.throws(() => readCharm(source(zip(bundle)), 'both'), {
    message: "The file is a bundle, but 'both' is the name of a charm. Push it to a name of the type bundle.",
  });
  const overlaid = `${bundle['bundle.yaml']}\n--- # overlay.yaml\napplications: {a: {offers: {web: {endpoints: [w]}}}}\n`;
  t.match(readBundle(source(zip({ ...bundle, 'bundle.yaml': overlaid })), 'both'), { description: 'Both.' });
  t.end();
});

t.test('a rock has its version and architectures', async (t) => {
  t.match(await readRock(source(rock('hello')), 'hello'), { version: '1.2', architectures: ['amd64'] });
  t.match(await readRock(source(rock('hello', { label: null })), 'hello'), { version: null, architectures: ['amd64'] });
});

t.test('a snap has its components', (t) => {
  const yaml = (components: string) => `name: hello\nversion: '1'\ncomponents: ${components}\n`;
  t.match(readSnapYaml(yaml('{more: {type: standard}, drivers: {type: kernel-modules}}'), 'hello').components, [
    { name: 'more', type: 'component/standard', optional: true },
    { name: 'drivers', type: 'component/kernel-modules', optional: true },
  ]);
  t.equal(readSnapYaml(yaml('{}'), 'hello').components, undefined);
  for (const wrong of ['[a]', '{a: {type: standard}}', '{more: {type: x}}', '{more: x}']) {
    t.throws(() => readSnapYaml(yaml(wrong), 'hello'), { name: 'Unacceptable' }, wrong);
  }
  t.end();
});
