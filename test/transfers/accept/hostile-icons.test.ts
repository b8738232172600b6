// Icons that a source may name for a package: only a picture of the type in its name is shown.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import { contentOf, example, goodNow, helloWith, partBytes, seedOf } from '#test/transfers/statement/example.ts';
import { receiver } from '#test/transfers/receive/receiver.ts';
import { twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

const MiB = 1024 * 1024;

/** Files that a source names as the icon of a package, the ending under which it does, and why each is no such icon. */
const hostileIcons: Record<string, { bytes: Buffer; ending: 'png' | 'jpg' | 'svg'; why: RegExp }> = {
  'png-as-jpg': { bytes: Buffer.from('89504e470d0a1a0a00', 'hex'), ending: 'jpg', why: /it is image\/png/ },
  'jpg-as-png': { bytes: Buffer.from('ffd8ffe0', 'hex'), ending: 'png', why: /it is image\/jpeg, .* names it \.png/ },
  'jpg-as-svg': { bytes: Buffer.from('ffd8ffdb', 'hex'), ending: 'svg', why: /it is image\/jpeg/ },
  'svg-as-jpg': { bytes: Buffer.from('<svg/>'), ending: 'jpg', why: /it is image\/svg\+xml/ },
  'page-as-jpg': { bytes: Buffer.from('<html><script>x()</script>'), ending: 'jpg', why: /neither a PNG nor a JPEG/ },
  'begins-late': { bytes: Buffer.from('00ffd8ffe0', 'hex'), ending: 'jpg', why: /neither a PNG nor a JPEG/ },
  'too-short': { bytes: Buffer.from('ffd8', 'hex'), ending: 'jpg', why: /neither a PNG nor a JPEG/ },
  'too-large': {
    bytes: Buffer.concat([Buffer.from('ffd8ffe1', 'hex'), Buffer.alloc(300_000)]),
    ending: 'jpg',
    why: /it has 300004 bytes/,
  },
  'far-too-large': {
    bytes: Buffer.concat([Buffer.from('ffd8ffe2', 'hex'), Buffer.alloc(5 * MiB)]),
    ending: 'jpg',
    why: /it has 5242884 bytes/,
  },
  'with-script': { bytes: Buffer.from('<svg><script>x()</script></svg>'), ending: 'svg', why: /an element 'script'/ },
  'with-handler': { bytes: Buffer.from('<svg onload="x()"/>'), ending: 'svg', why: /a handler 'onload'/ },
  'with-address': {
    bytes: Buffer.from('<svg><image href="https://site.example/x.png"/></svg>'),
    ending: 'svg',
    why: /refers to another address/,
  },
  'speaks-of-svg': { bytes: Buffer.from('put the <svg> here'), ending: 'svg', why: /not well-formed/ },
};

t.test(
  'a file that is no icon, or no icon of the type that it is named for, is left out with its reason',
  async (t) => {
    const { here: siteA, stick } = await twoSites(t);
    const { attempt, store } = await receiver(t, siteA);
    const seed = seedOf(4);
    const trusted = { name: 'painter', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
    await store.acts.do(trustSource, { actor: 'cli:ada' }, trusted);
    const packageWith = (name: string, ending: string, bytes: Buffer) => ({
      ...helloWith([]),
      id: `${name}-id`,
      name,
      icon: { content: contentOf(bytes), ending: ending as 'jpg' },
    });
    const good = Buffer.from('ffd8ffe000104a46494600', 'hex');
    const missing = Buffer.from('ffd8ffe3', 'hex');
    const evil = example([good, ...Object.values(hostileIcons).map(({ bytes }) => bytes)], {
      ...goodNow(),
      source: 'painter',
      seed,
      packages: [
        packageWith('good-one', 'jpg', good),
        packageWith('missing-one', 'jpg', missing),
        ...Object.entries(hostileIcons).map(([name, { bytes, ending }]) => packageWith(name, ending, bytes)),
      ],
    });
    const file = join(stick, 'icons.tar');
    writeFileSync(file, await partBytes(evil));
    const { id } = await attempt([file]);
    interface Preview {
      problems: object[];
      'left-out': { what: string; why: string }[];
    }
    const { problems, 'left-out': leftOut } = (await siteA.json(`transfer preview ${id}`)) as unknown as Preview;
    t.same(problems, []);
    const expected = { 'missing-one': /neither in the transfer nor here/ };
    for (const [name, { why: pattern }] of Object.entries(hostileIcons)) Object.assign(expected, { [name]: pattern });
    t.equal(leftOut.length, Object.keys(expected).length);
    for (const [name, pattern] of Object.entries(expected)) {
      const line = leftOut.find(({ what: object }) => object === `snap/${name} icon`);
      t.match(line?.why, pattern, name);
    }
    await siteA.done(`transfer accept ${id} --yes`);
    for (const { name, icon } of await store.records.packages.after('', '', 100))
      t.equal(icon, name === 'good-one' ? `${contentOf(good)['sha3-384']}.jpg` : null, name);
  },
);

t.test('an icon is named for a type that stores show, or the transfer is refused', async (t) => {
  const { here: siteA, stick } = await twoSites(t);
  const { attempt, store } = await receiver(t, siteA);
  const seed = seedOf(4);
  const trusted = { name: 'painter', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, trusted);
  const bytes = Buffer.from('ffd8ffe000104a46494600', 'hex');
  for (const [at, ending] of ['', 'jpeg', 'JPG', 'gif', 'html', 'jpg/../../../x', 'jpg\0'].entries()) {
    const icon = { content: contentOf(bytes), ending: ending as 'jpg' };
    const packages = [{ ...helloWith([]), icon }];
    const file = join(stick, `${String(at)}.tar`);
    const evil = example([bytes], { ...goodNow(), source: 'painter', seed, sequence: at + 1, packages });
    writeFileSync(file, await partBytes(evil));
    await t.rejects(attempt([file]), { message: /^Its statement is invalid: / }, JSON.stringify(ending));
  }
});
