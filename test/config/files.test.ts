import t from 'tap';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { parseConfig } from '#configuration/config.ts';
import { parseByteSize } from '#configuration/byte-sizes.ts';
import { sections, valuesIn } from '#configuration/keys.ts';
import { nearest } from '#domain/nearest.ts';
import { entries } from '#configuration/toml-text.ts';
import { embeddedText } from '#platform/embedded.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';

type Node = Record<string, unknown>;
const schema = JSON.parse(embeddedText('schemas/config.json')) as { $defs: Record<string, Node> };
const file = (name: string) => embeddedText(`config/${name}.toml`);

t.test('the files to copy are accepted', async (t) => {
  t.strictSame(
    parseConfig('appliance.toml', file('appliance')),
    parseConfig('empty.toml', ''),
    'appliance.toml is the defaults',
  );
  t.match(parseConfig('air-gapped.toml', file('air-gapped')), {
    store: { offline_mode: true },
    auth: { store_admin_id: String, store_admin_macaroon_sha3_384: String },
    internal: { package_permissions: true },
  });
  t.match(parseConfig('development.toml', file('development')), { log: { level: 'debug' } });
});

t.test('appliance.toml has every key with its default, each under a comment', async (t) => {
  const lines = file('appliance').split('\n');
  const written = parse(file('appliance'));
  const headers = lines.flatMap((line) => /^\[(.+)\]$/.exec(line)?.[1] ?? []);
  t.strictSame(headers, [...sections().keys()], 'in the order of the schema');
  for (const [section, { keys }] of sections()) {
    const start = lines.indexOf(`[${section}]`);
    t.match(lines[start - 1], /^# /, `[${section}] has a comment`);
    for (const [name, key] of keys) {
      const set = new RegExp(`^${key.default === undefined ? '# ' : ''}${name} = `);
      const at = lines.findIndex((line, index) => index > start && set.test(line));
      t.not(at, -1, `${section}.${name} is there`);
      t.match(lines[at - 1], /^# /, `${section}.${name} has a comment`);
      t.strictSame(valuesIn(written, section)[name], key.default, `${section}.${name} has its default`);
    }
  }
  // A bucket for backups takes the place of a folder.
  const turnedOn = file('appliance').replaceAll(/^# (?!folder)(?=[a-z0-9_]+ = )/gm, '');
  t.doesNotThrow(
    () => parseConfig('appliance.toml', turnedOn),
    'the keys without a default show a value that is accepted',
  );
});

t.test('every shape of the configuration is closed, bounded and described', async (t) => {
  const described = (name: string, node: Node) => t.match(node['description'], /^\S.*\S$/, `${name} is described`);
  const bounded = (name: string, node: Node): void => {
    if (node['type'] === 'string') t.type(node['maxLength'], 'number', `${name} is bounded`);
    if (node['type'] === 'array') t.type(node['maxItems'], 'number', `${name} is bounded`);
    if (node['type'] === 'integer') t.ok('minimum' in node && 'maximum' in node, `${name} is bounded`);
    for (const part of [node['items'], ...((node['anyOf'] as Node[] | undefined) ?? [])])
      if (part) bounded(name, part as Node);
  };
  for (const [name, node] of Object.entries(schema.$defs)) {
    t.match(name, /^[A-Z][A-Za-z0-9]+$/);
    described(name, node);
    bounded(name, node);
    if (node['type'] !== 'object') continue;
    const { properties = {}, additionalProperties: any } = node as { properties?: Record<string, Node> } & Node;
    t.ok(any === false || Object.keys(properties).length === 0, `${name} is closed, or a map`);
    if (name === 'Config') continue;
    const keys = Object.entries(any === false ? properties : { any: any as Node });
    for (const [key, property] of keys.filter(([, { $ref }]) => typeof $ref !== 'string' || !$ref.endsWith('Config'))) {
      described(`${name}.${key}`, property);
      bounded(`${name}.${key}`, property);
      t.ok('default' in property || 'examples' in property, `${name}.${key} has a default or an example`);
    }
  }
});

t.test('sizes are powers of two', async (t) => {
  t.strictSame(['0 KiB', '1KiB', '3 MiB', '32 GiB', '999 TiB', 5].map(parseByteSize), [
    0,
    1024,
    3 * 2 ** 20,
    32 * 2 ** 30,
    999 * 2 ** 40,
    5,
  ]);
  t.throws(() => parseByteSize('1 GB'), { message: "cannot read the size '1 GB'" });
  const { pattern } = (schema.$defs['ByteSize']?.['anyOf'] as { pattern: string }[])[1]!;
  const maximum = (schema.$defs['ByteSize']?.['anyOf'] as { maximum: number }[])[0]!.maximum;
  const size = fc.stringMatching(new RegExp(pattern));
  fc.assert(fc.property(size, (text) => parseByteSize(text) >= 0 && parseByteSize(text) <= maximum));
});

t.test('a misspelt word is answered with the nearest one, and with none if none is near', async (t) => {
  const words = ['offline_mode', 'listen', 'id', 'account create', 'account list'];
  t.equal(nearest('offline_mod', words), 'offline_mode');
  t.equal(nearest('Listne', words), 'listen');
  t.equal(nearest('off', words), 'offline_mode', 'by its beginning');
  t.equal(nearest('acount create', words), 'account create');
  t.equal(nearest('di', words), 'id');
  t.equal(nearest('zebra', words), undefined);
  t.equal(nearest('x'.repeat(1000), words), undefined);
  fc.assert(fc.property(fc.constantFrom(...words), (word) => nearest(word, words) === word));
});

t.test('every value is at the place that the parser reports', async (t) => {
  const name = fc.oneof(
    fc.constantFrom('a', 'b', 'c.d', '__proto__', 'a b', ''),
    fc.string({ maxLength: 4 }).map((s) => s.toWellFormed()),
  );
  const scalar = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 8 }).map((value) => value.toWellFormed()),
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
  );
  const { table } = fc.letrec<{ table: Node; value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.array(scalar, { maxLength: 3 }),
      tie('table'),
      fc.array(tie('table'), { maxLength: 2 }),
    ),
    table: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(table, (written) => {
      const text = stringify(written);
      const read = parse(text);
      for (const { kind, path, valueFrom, to, line, from } of entries(text)) {
        const actual = path.reduce<unknown>((value, step) => (value as Node)[step], read);
        if (line !== text.slice(0, from).split('\n').length) throw new Error(`wrong line of ${path.join()}`);
        if (kind === 'section') continue;
        const again = parse(`x = ${text.slice(valueFrom, to)}`)['x'];
        if (JSON.stringify(again) !== JSON.stringify(actual)) throw new Error(`wrong place of ${path.join()}`);
      }
    }),
  );
  const odd = `'a'."b\\u0063" . d = """x"""" # "\n[ s . 't' ]\nl = [ [1, '''a''''], { x.y = 1979-05-27 07:32:00Z } ,]\n[[u]]\n[u.v]\n[[u]]\n`;
  parse(odd);
  t.strictSame(
    [...entries(odd)].map(({ path, line, valueFrom, to }) => [line, path.join('/'), odd.slice(valueFrom, to)]),
    [
      [1, 'a/bc/d', '"""x""""'],
      [2, 's/t', "[ s . 't' ]"],
      [3, 's/t/l/0/0', '1'],
      [3, 's/t/l/0/1', "'''a''''"],
      [3, 's/t/l/0', "[1, '''a'''']"],
      [3, 's/t/l/1/x/y', '1979-05-27 07:32:00Z'],
      [3, 's/t/l/1', '{ x.y = 1979-05-27 07:32:00Z }'],
      [3, 's/t/l', "[ [1, '''a''''], { x.y = 1979-05-27 07:32:00Z } ,]"],
      [4, 'u/0', '[[u]]'],
      [5, 'u/0/v', '[u.v]'],
      [6, 'u/1', '[[u]]'],
    ],
  );
});
