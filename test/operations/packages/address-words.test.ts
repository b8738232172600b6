// Names that would be taken for something else, because they stand in an address.
import t from 'tap';

import { isNamespace, namespaces } from '#domain/packages/namespace.ts';
import { addressWords } from '#domain/packages/package-name.ts';
import { operations } from '#operations/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';

/**
 * Values that a parameter of an address cannot have, because another address has that word there, and the namespaces of
 * each.
 */
function shadowed(path: string, other: string): string[] {
  const [own, its] = [path.split('/'), other.split('/')];
  if (own.length !== its.length) return [];
  const isParameter = (part: string | undefined): boolean => part?.startsWith(':') === true;
  const both = own.map((part, at) => [part, its[at] ?? ''] as const);
  const meet = both.every(([mine, theirs]) => {
    if (mine === theirs || (isParameter(mine) && isParameter(theirs))) return true;
    const [parameter, word] = isParameter(mine) ? [mine, theirs] : [theirs, mine];
    return isParameter(parameter) && word !== '' && (parameter !== ':namespace' || isNamespace(word));
  });
  // Of two addresses that fit, the one with a word at the first place where they differ is taken.
  const first = both.find(([mine, theirs]) => isParameter(mine) !== isParameter(theirs));
  if (!meet || first === undefined || !isParameter(first[0])) return [];
  const namespace = its[own.indexOf(':namespace')] ?? (path.startsWith('/v1/charm/') ? 'charm' : 'any');
  return both
    .filter(([mine, theirs]) => isParameter(mine) && mine !== ':namespace' && !isParameter(theirs))
    .map(([mine, theirs]) => `${namespace}: ${mine} = ${theirs}`);
}

t.test('the reserved words are those of the addresses of the operations', (t) => {
  const candidates = operations.filter(({ path }) => path !== '/docs/:page'); // the pages of the documents are named by ourselves
  const collisions = new Set(
    candidates.flatMap(({ method, path }) =>
      candidates.flatMap((other) => (other.method === method ? shadowed(path, other.path) : [])),
    ),
  );
  t.same([...collisions].sort(), ['charm: :charm_name = bulk', 'charm: :name = libraries']);
  const words = [...collisions].map((collision) => [collision.split(': ')[0], collision.split(' = ')[1]] as const);
  for (const namespace of namespaces) {
    const own = words.filter(([where]) => where === namespace).map(([, word]) => word);
    // `PUT` and `DELETE /v1/snap/featured` are asked by web front ends, and must never give up a name.
    t.same(addressWords[namespace] ?? [], namespace === 'snap' ? [...own, 'featured'] : own.sort(), namespace);
  }
  t.end();
});

t.test('such a name cannot be registered, not even on the host', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const [namespace, words] of Object.entries(addressWords)) {
    for (const name of words) {
      t.match(await ada.post(`/v1/${namespace}`, { name }), {
        status: 409,
        body: { 'error-list': [{ code: 'reserved-name', message: /part of the store's own addresses/ }] },
      });
      t.match(
        await larder(`package register ${namespace}/${name} --account ${store.ids.ada} --data ${store.directory}`),
        {
          code: 1,
          err: /part of the store's own addresses/,
        },
      );
      const elsewhere = namespace === 'charm' ? 'snap' : 'charm';
      t.match(
        await ada.post(`/v1/${elsewhere}`, { name }),
        { status: 200 },
        `${name} is a name like any other in ${elsewhere}`,
      );
    }
  }
  t.match(await ada.post('/dev/api/register-name/', { snap_name: 'featured' }), {
    status: 409,
    body: { error_list: [{ code: 'reserved-name' }] },
  });
  t.match(await ada.delete('/v1/snap/featured'), { status: 404 });
});
