// The bill of materials of a charm has its requirements as they are listed.
import t from 'tap';

import { readBundle, readCharm } from '#review/charms/charm.ts';
import { charm, zip } from '#test/fixtures/packages/archives.ts';
import { inMemory } from '../packed.ts';

const billOf = (files: Record<string, string | Uint8Array>) => readCharm(inMemory(charm('hello', files)), 'hello').bill;

t.test('requirements have a version only if they name one', async (t) => {
  const requirements = `# comment
ops==2.1.0  # exact
pydantic[email] == 1.10.2 ; python_version >= "3.8"
jinja2>=3,<4
tenacity
lightkube==0.*

`;
  const bill = billOf({ 'requirements.txt': requirements });
  t.same(
    bill.components.map(({ name, version }) => [name, version]),
    [
      ['jinja2', null],
      ['lightkube', null],
      ['ops', '2.1.0'],
      ['pydantic', '1.10.2'],
      ['tenacity', null],
    ],
  );
  t.equal(bill.components[0]?.requirement, 'jinja2>=3,<4');
  t.same(bill.gaps, ['requirements.txt has 3 requirements that do not name one version.']);
});

t.test('options and addresses are no components', async (t) => {
  t.match(billOf({ 'requirements.txt': '--hash x\ngit+https://example.com/x\nops @ https://example.com/x\n' }), {
    components: [],
    gaps: ['requirements.txt has 3 entries without a name and a version.'],
  });
});

t.test('the files of reactive charms count too, and a charm without any is unknown', async (t) => {
  t.match(billOf({ 'wheelhouse.txt': 'pip==22.1\n' }), { files: ['wheelhouse.txt'], gaps: [] });
  t.match(billOf({}), { files: [], gaps: ['The charm has no requirements.txt.'] });
  t.match(billOf({ 'requirements.txt': new Uint8Array([0xff]) }), { gaps: ['requirements.txt cannot be read.'] });
});

t.test('a bundle has no software of its own', async (t) => {
  const bundle = zip({ 'bundle.yaml': 'name: hello\napplications: {a: {charm: ch:a}}\n', 'README.md': '' });
  t.match(readBundle(inMemory(bundle), 'hello').bill, { gaps: [], components: [] });
});
