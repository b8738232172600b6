// Known vulnerabilities of images: those that a channel gives to deployments as a resource of a charm.
import t from 'tap';

import { readMentions } from '#registry/mentions.ts';
import { blobsBeside } from '#test/fixtures/contents.ts';
import {
  declare,
  descriptor,
  digestOf,
  logIn,
  mediaTypes,
  pushImage,
  uploadLogin,
} from '#test/fixtures/packages/images.ts';
import { billsJob } from '#test/jobs/vulnerabilities/bills-job.ts';
import { advisory, findingWorld, oldSslStatus, pushImageResource, ubuntuLayer } from './world.ts';

t.test(
  'the image of a resource is listed with the channels of its charm, and is unknown until it is read',
  async (t) => {
    const world = await findingWorld(t);
    const { store, ada, root, larder } = world;
    await declare(store, 'ada', 'hello');
    const client = await logIn(store, await uploadLogin(ada, 'hello'));
    const images = [
      await pushImage(client, 'one', ubuntuLayer()),
      await pushImage(client, 'two', ubuntuLayer(`${oldSslStatus}Architecture: arm64\n`)),
    ];
    const manifests: unknown[] = [];
    for (const image of images)
      manifests.push(descriptor((await client.call('GET', `manifests/${image}`)).text, mediaTypes.manifest));
    const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests };
    await client.manifest('all', index, mediaTypes.index);
    const push = (digest: string) => pushImageResource(world, 'hello', digest);
    await push(digestOf(JSON.stringify(index)));
    await push(images[0]!);
    const resources = [{ name: 'image', revision: 1 }];
    const { status: released } = await ada.post('/v1/charm/hello/releases', [
      { channel: 'latest/stable', revision: 1, resources },
    ]);
    t.equal(released, 200);
    const listed = async () =>
      ((await root.get('/internal/v1/findings')).body.revisions as { resource: string | null }[]).filter(
        ({ resource }) => resource !== null,
      );
    await world.advisories([advisory(1001)]);
    t.match(await listed(), [
      { package: 'charm/hello', resource: 'image', revision: 1, coverage: 'not-matched', channels: ['latest/stable'] },
    ]);

    await readMentions(store.beside.records, store.beside.acts, await blobsBeside(t, store));
    await (await billsJob(t, store)).run();
    t.match(await larder('feed match'), { code: 0 });
    const [image, ...others] = await listed();
    t.match(image, {
      coverage: 'covered',
      release: 'ubuntu:22.04',
      version: null,
      devices: null,
      'open-findings': 1,
      findings: [{ vulnerability: 'CVE-2026-1001', component: { name: 'libssl3' } }],
    });
    t.same(others, [], 'the second revision is in no channel, and the two architectures are one entry');
    t.match((await larder('vulnerabilities')).out, /CVE-2026-1001 +charm\/hello image +1 +latest\/stable +libssl3/);
    t.match(await world.record(), { recorded: 1 });

    const at = '/internal/v1/packages/charm/hello/accepted-findings';
    const acceptance = { vulnerability: 'CVE-2026-1001', until: '2026-06-01T00:00:00Z', reason: 'The port is closed.' };
    t.match(await root.post(at, acceptance), { status: 200, body: { severity: 'high' } });
    t.match(await listed(), []);
    t.equal((await root.delete(`${at}/CVE-2026-1001`)).status, 204);
    const products = images.map((digest) => ({ '@id': `pkg:oci/hello@${encodeURIComponent(digest)}` }));
    const statement = {
      vulnerability: 'CVE-2026-1001',
      status: 'not_affected',
      justification: 'component_not_present',
    };
    await world.vex([{ ...statement, products: products.slice(1) }]);
    t.match(await listed(), [{ 'open-findings': 1 }], 'one of the architectures has it');
    await world.vex([{ ...statement, products }], '2026-04-29T09:00:00Z');
    t.match(await listed(), []);
  },
);
