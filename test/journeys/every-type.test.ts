// The common behaviour of a package of every type, from registration to closing its channels.
import t from 'tap';

import { packageTypes, namespaces, type PackageNamespace, type PackageType } from '#domain/packages/namespace.ts';
import { charm, rock, zip } from '#test/fixtures/packages/archives.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';

/** Two contents that the store takes for a package of the type called tiny-app. */
async function contents(type: PackageType): Promise<[Uint8Array, Uint8Array]> {
  const bundle = (more: string) =>
    zip({ 'bundle.yaml': `name: tiny-app\napplications: {a: {charm: a}}\n${more}`, 'README.md': '# tiny-app' });
  switch (type) {
    case 'snap':
      return [await snapFixture('app-xz'), await snapFixture('app-gzip')];
    case 'charm':
      return [charm('tiny-app'), charm('tiny-app', { dispatch: 'second' })];
    case 'bundle':
      return [bundle(''), bundle('description: second\n')];
    case 'rock':
      return [rock('tiny-app'), rock('tiny-app', { layers: ['second'] })];
    default:
      return [Buffer.from('first'), Buffer.from('second')];
  }
}

/** The name of a type in package_access; some have none. */
const accessTypes: Partial<Record<PackageType, string>> = {
  bin: 'bin',
  bundle: 'charm-bundle',
  charm: 'charm',
  rock: 'rock',
  rockcraft: 'rockcraft',
  snap: 'snap',
  snapcraft: 'snapcraft',
  sourcecraft: 'sourcecraft',
};

/** How the entries of a release listing look in a namespace. */
const variants: Record<PackageNamespace, string> = {
  bin: 'channel expiration-date revision when',
  charm: 'base channel expiration-date progressive resources revision when',
  rock: 'channel expiration-date revision when',
  sdk: 'base channel expiration-date progressive resources revision when',
  snap: 'architecture channel expiration-date progressive revision when',
  source: 'base channel expiration-date progressive resources revision when',
};

for (const namespace of namespaces) {
  for (const type of packageTypes(namespace)) {
    t.test(`a package of type ${type} goes from registration to release`, async (t) => {
      const store = await startStore(t);
      const [ada, bob] = [await store.as('ada'), await store.as('bob')];
      const at = `/v1/${namespace}/tiny-app`;
      const { id } = (await ada.post(`/v1/${namespace}`, { name: 'tiny-app', type, private: true })).body;
      t.match((await ada.get(at)).body.metadata, { id, type, status: 'registered', private: true, store: 'larder' });
      t.match((await ada.get(`/v1/${namespace}?fields=name,type`)).body.results, [{ name: 'tiny-app', type }]);
      t.match((await ada.patch(at, { title: 'Tiny', links: { docs: ['https://docs.example'] } })).body.metadata, {
        title: 'Tiny',
        links: { docs: ['https://docs.example'] },
      });

      const [first, second] = await contents(type);
      t.match((await ada.push(namespace, 'tiny-app', first)).body.revisions, [{ status: 'approved', revision: 1 }]);
      t.match((await ada.push(namespace, 'tiny-app', second)).body.revisions, [{ status: 'approved', revision: 2 }]);
      t.match((await ada.push(namespace, 'tiny-app', first)).body.revisions, [
        { status: 'rejected', revision: null, errors: [{ code: 'review-error', message: /as revision 1/ }] },
      ]);
      t.same(
        ((await ada.get(`${at}/revisions?limit=1`)).body.revisions as { revision: number }[]).map(
          (entry) => entry.revision,
        ),
        [2],
      );
      t.equal((await ada.get(`${at}/revisions/review`)).body.revisions.length, 3);
      t.same((await ada.get(`${at}/resources`)).body, { resources: [] });
      t.match(await ada.get(`${at}/resources/none/revisions`), { status: 404 });

      t.match(
        await ada.post(`${at}/releases`, [
          { channel: 'edge', revision: 2 },
          { channel: 'stable', revision: 1 },
          { channel: 'edge/fix', revision: 1 },
        ]),
        { status: 200 },
      );
      t.match(await ada.post(`${at}/releases`, [{ channel: 'beta', revision: 3 }]), { status: 400 });
      const releases = (await ada.get(`${at}/releases`)).body;
      const entries = releases['channel-map'] as { channel: string; revision: number }[];
      t.same(
        [...new Set(entries.map(({ channel, revision }) => `${channel}=${revision}`))],
        ['latest/stable=1', 'latest/edge=2', 'latest/edge/fix=1'],
      );
      for (const entry of entries) t.equal(Object.keys(entry).sort().join(' '), variants[namespace]);
      t.equal('craft-channel-map' in releases, namespace === 'sdk' || namespace === 'source');
      t.match(releases.revisions, [
        { revision: 2, status: 'released' },
        { revision: 1, status: 'released' },
      ]);
      t.equal((await ada.get(at)).body.metadata.status, 'published');

      const word = accessTypes[type];
      const ask = (client: typeof ada) =>
        client.post('/v1/auth/package-access', { filters: [{ type: word ?? type, name: 'tiny-app' }] });
      if (word === undefined) t.match(await ask(ada), { status: 400 });
      else t.match((await ask(ada)).body.authorization.packages, [{ type: word, id, permissions: ['publisher'] }]);

      const invites = `${at}/collaborators/invites`;
      const { tokens } = (await ada.post(invites, { invites: [{ email: 'bob@example.com' }] })).body;
      t.match(await bob.get(at), { status: 404 });
      t.match(await bob.post(`${invites}/accept`, { token: tokens[0].token }), { status: 204 });
      t.match(await bob.post(`${at}/releases`, [{ channel: 'edge', revision: null }]), { status: 200 });
      if (word !== undefined) {
        t.match((await ask(bob)).body.authorization.packages, [{ permissions: ['package-collaborator'] }]);
      }

      t.match(await bob.delete(at), { status: 401 });
      t.match(await ada.delete(at), { status: 403 }, 'a name with revisions is not given up');
    });
  }
}
