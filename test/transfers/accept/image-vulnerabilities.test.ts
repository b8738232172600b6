// The images that a transfer brings are read when it is received: the preview and the approval policy know their
// vulnerabilities before they are accepted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import t, { type Test } from 'tap';

import { createImageReading } from '#appliance/transfer-reviews.ts';
import { receptionContextOf } from '#cli/transfers/reception.ts';
import { withReviewer } from '#cli/uploads/reviewer.ts';
import { withBlobs } from '#data/blobs.ts';
import { openStore } from '#data/store.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { charm, tar } from '#test/fixtures/packages/archives.ts';
import { descriptor, digestOf, logIn, mediaTypes, uploadLogin } from '#test/fixtures/packages/images.ts';
import { kevCatalog, osvZip, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';
import { openPart } from '#transfers/parts/open-part.ts';
import { receive } from '#transfers/receive/receive.ts';
import type { ImageBillOf } from '#transfers/review/reviews.ts';
import { pushImageResource } from '#test/operations/vulnerabilities/world.ts';

t.setTimeout(600_000);

const release = tar([{ name: 'usr/lib/os-release', content: 'ID=ubuntu\nVERSION_ID="22.04"\n' }]);
/** The lists of an image with a version of openssl. */
const ssl = (version: string): Buffer =>
  gzipSync(
    tar([
      {
        name: 'var/lib/dpkg/status',
        content: `Package: openssl\nStatus: install ok installed\nArchitecture: amd64\nVersion: ${version}\n`,
      },
    ]),
  );

const advisory = (
  number: number,
  fixed: string,
  severity: string,
  modified = '2026-04-30T10:00:00Z',
): AdvisorySketch => ({
  id: `UBUNTU-CVE-2026-${String(number)}`,
  upstream: [`CVE-2026-${String(number)}`],
  severity: [{ type: 'Ubuntu', score: severity }],
  fixes: { 'Ubuntu:22.04:LTS openssl': fixed },
  modified,
});

interface Layer {
  content: string | Uint8Array;
  mediaType?: string;
  urls?: string[];
}

/** A depot with the charm redis and its image, and a site with the policy that trusts it. */
async function twoStores(t: Test, policy: string) {
  const depot = await startStore(t);
  const ada = await depot.as('ada');
  const site = await askingSite(t, '');
  const stick = folder(t);
  const { json: made } = commandsOn(depot.directory);
  const receiver = commandsOn(site.store.directory);
  await made('site init depot');
  await receiver.json('site init ship');
  await made(`site show --export ${join(stick, 'depot.json')}`);
  const { site: shown } = await made('site show');
  /** Runs a command that must not fail. */
  const done = async (line: string): Promise<void> => {
    const { code, out, err } = await receiver.larder(line);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
  };
  await done(`site trust ${join(stick, 'depot.json')} --fingerprint ${shown.fingerprints[0]} --accept automatic`);
  await configure(site.store, policy.replaceAll(' B ', ` ${site.store.ids.bob} `));
  await ada.post('/v1/charm', { name: 'redis' });
  await ada.push('charm', 'redis', charm('redis', {}, 'resources:\n  image:\n    type: oci-image\n'));
  const client = await logIn(depot, await uploadLogin(ada, 'redis'));
  const push = async (content: object, type: string = mediaTypes.manifest) => {
    const text = JSON.stringify(content);
    const { status, text: problem } = await client.manifest(digestOf(text), text, type);
    if (status !== 201) throw new Error(problem);
    return { ...descriptor(text, type), annotations: undefined as Record<string, string> | undefined };
  };
  const image = async (architecture: string, layers: readonly Layer[], more: object = {}) => {
    const config = JSON.stringify({ architecture, os: 'linux', rootfs: { type: 'layers', diff_ids: [] } });
    for (const { content, urls } of [{ content: config }, ...layers])
      if (urls === undefined) await client.blob(content);
    return push({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: descriptor(config, mediaTypes.config),
      layers: layers.map(({ content, mediaType = mediaTypes.layer, urls }) => ({
        ...descriptor(content, mediaType),
        ...(urls && { urls }),
      })),
      ...more,
    });
  };
  let revision = 0;
  let transfers = 0;
  return {
    ...site,
    done,
    image,
    push,
    feedDepot: async (content: string | Uint8Array) => {
      writeFileSync(join(stick, 'feed'), content);
      await made(`feed import ${join(stick, 'feed')}`);
    },
    feed: async (content: string | Uint8Array) => {
      writeFileSync(join(stick, 'feed'), content);
      await done(`feed import ${join(stick, 'feed')}`);
    },
    /** Releases each image at the depot to its channel, and sends them. */
    async send(digests: Readonly<Record<string, string>>, more = '') {
      for (const [channel, digest] of Object.entries(digests)) {
        await pushImageResource({ store: depot, ada }, 'redis', digest);
        const resources = [{ name: 'image', revision: ++revision }];
        const { status, body } = await ada.post('/v1/charm/redis/releases', [{ channel, revision: 1, resources }]);
        if (status !== 200) throw new Error(JSON.stringify(body));
      }
      await depot.appliance.reviewed();
      const file = join(stick, `${String(++transfers)}.tar`);
      const { id } = await made(`transfer make ${file} ${more}`);
      return { id: id as string, file, came: await receiver.json(`transfer receive ${file}`) };
    },
    preview: (id: string) => receiver.json(`transfer preview ${id}`),
    /** The digest of each image of the site, with its bill. */
    bills: async () => {
      const { records } = site.store.beside;
      const subject = await records.packages.find('charm', 'redis');
      const repository = { packageId: subject?.id ?? '', resource: 'image' };
      return (digest: string) => records.billsOfMaterials.ofManifest(repository, digest.slice('sha256:'.length));
    },
  };
}

/** Receives a file in this process, which can watch the reading of its images. */
async function receivingAt(
  directory: string,
  file: string,
  watched: (image: Parameters<ImageBillOf>[0], read: ImageBillOf) => ReturnType<ImageBillOf>,
): Promise<void> {
  const store = await openStore({ directory });
  const part = await openPart(file);
  try {
    await withReviewer((reviewer) =>
      withBlobs(store, async ({ blobs, digests }) => {
        const { signal } = new AbortController();
        const context = await receptionContextOf(store, { blobs, digests, reviewer, signal });
        const imageBillOf: ImageBillOf = (image) => watched(image, context.imageBillOf);
        const doing = { actor: { actor: 'cli:ada' }, media: undefined, progress: () => undefined };
        await receive([part], { ...context, ...doing, imageBillOf });
      }),
    );
  } finally {
    await part.close();
    await store.close();
  }
}

t.test('the images of a transfer are compared in its preview, and held by the approval policy', async (t) => {
  const { image, push, send, preview, feed, run, judge, bills } = await twoStores(
    t,
    'vulnerabilities = ["1 of B for critical in charm/*:*/stable"]',
  );
  await feed(osvZip([advisory(1001, '3.0.2', 'critical'), advisory(1002, '3.0.4', 'high')]));
  await feed(kevCatalog(['CVE-2026-1001']));
  const index = async (...versions: string[]) => {
    const manifests = [];
    for (const [at, version] of versions.entries()) {
      const architecture = ['amd64', 'arm64'][at]!;
      const layers = [{ content: release }, { content: ssl(version) }];
      manifests.push({ ...(await image(architecture, layers)), platform: { architecture, os: 'linux' } });
    }
    // As BuildKit attaches its provenance.
    const statement = JSON.stringify({
      _type: 'https://in-toto.io/Statement/v0.1',
      predicateType: 'https://slsa.dev/provenance/v0.2',
      subject: [{ name: 'redis', digest: { sha256: manifests[0]!.digest.slice('sha256:'.length) } }],
      predicate: {},
    });
    manifests.push(await image('unknown', [{ content: statement, mediaType: 'application/vnd.in-toto+json' }]));
    const listed = await push({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }, mediaTypes.index);
    return { digest: listed.digest, images: manifests.slice(0, -1).map(({ digest }) => digest) };
  };

  const first = await send({ 'latest/stable': (await index('3.0.2', '3.0.3')).digest });
  t.match(first.came, { why: 'charm/redis is new here.' });
  t.match(await preview(first.id), {
    vulnerabilities: {
      new: [
        {
          package: 'charm/redis',
          resource: 'image',
          revision: 1,
          channels: ['latest/stable'],
          vulnerability: 'CVE-2026-1002',
          'known-exploited': false,
          'fixed-in': '3.0.4',
        },
      ],
      incomplete: [{ resource: null }],
    },
  });
  t.match(await run(`transfer accept ${first.id} --yes`), { code: 0 });

  const { digest, images } = await index('3.0.2', '3.0.1');
  const second = await send({ 'latest/stable': digest });
  t.match(
    second.came,
    { why: /asks about critical vulnerabilities: charm\/redis:latest\/stable, image revision 2 has CVE-2026-1001\./ },
    'each image of an index counts',
  );
  t.match(await preview(second.id), {
    vulnerabilities: {
      new: [{ resource: 'image', revision: 2, vulnerability: 'CVE-2026-1001', 'known-exploited': true }],
      counts: { new: 1, 'known-exploited': 1, fixed: 0, incomplete: 1 },
    },
  });
  const accept = () => run(`transfer accept ${second.id} --yes`);
  t.match(await accept(), { code: 1, err: /Waits for 1 more approval \(proposal 1/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  const later = '2026-05-01T10:00:00Z';
  const sketches = [advisory(1001, '3.0.2', 'critical', later), advisory(1002, '3.0.4', 'critical', later)];
  await feed(osvZip(sketches));
  t.match(await accept(), { code: 1, err: /Waits for 1 more approval \(proposal 2/ }, 'a feed that came since counts');
  t.match(await judge('approve', 'bob', 2), { code: 0 });
  t.match(await accept(), { code: 0 });
  const billOf = await bills();
  for (const accepted of images)
    t.match(await billOf(accepted), { components: [{ name: 'openssl' }], gaps: [] }, 'it is not read again');

  const third = await send({ 'latest/stable': (await index('3.0.3', '3.0.3')).digest });
  t.match(await preview(third.id), {
    vulnerabilities: {
      fixed: [{ resource: 'image', revision: 2, vulnerability: 'CVE-2026-1001', channels: ['latest/stable'] }],
      counts: { new: 0, fixed: 1 },
    },
  });
  const fourth = await send({ 'latest/stable': (await index('3.0.4', '3.0.4')).digest });
  t.match(fourth.came, { automatic: /are accepted automatically/ }, 'without a finding it waits for no person');
});

t.test('an image that cannot be read in full has unknown contents, with the reason, and costs no time', async (t) => {
  const { image, push, send, preview, feed } = await twoStores(t, 'vulnerabilities = ["1 of B for low"]');
  await feed(osvZip([advisory(1001, '3.0.2', 'critical')]));
  const header = tar([{ name: 'big', size: 2 ** 33 }]).subarray(0, 512);
  const empty = tar([{ name: 'an-empty-file' }]).subarray(0, 512);
  const listed = { content: ssl('3.0.2') };
  const child = await image('amd64', [listed]);
  const nested = await push({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [child] }, mediaTypes.index);
  const foreign = {
    mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar',
    urls: ['https://example.org/'],
  };
  const images: Record<string, [image: { digest: string }, reason: RegExp]> = {
    bomb: [
      await image('amd64', [{ content: zstdCompressSync(Buffer.concat([header, Buffer.alloc(80 << 20)])) }]),
      /^Unknown: A layer cannot be read: it unpacks to more than is looked through\.$/,
    ],
    files: [
      await image('amd64', [{ content: zstdCompressSync(Buffer.concat(Array.from({ length: 32_000 }, () => empty))) }]),
      /^Unknown: A layer cannot be read: it unpacks to more than is looked through\.$/,
    ],
    link: [
      await image('amd64', [{ content: tar([{ name: 'var/lib/dpkg/status', type: '2' }]) }]),
      /^Unknown: var\/lib\/dpkg\/status cannot be read\.$/,
    ],
    cut: [
      await image('amd64', [{ content: listed.content.subarray(0, 80) }]),
      /^Unknown: A layer cannot be read: it cannot be unpacked\.$/,
    ],
    many: [
      await image(
        'amd64',
        Array.from({ length: 501 }, () => listed),
      ),
      /^Unknown: It has more than 500 layers\.$/,
    ],
    foreign: [
      await image('amd64', [{ content: release }, listed, { content: 'it is elsewhere', ...foreign }]),
      /^Partly covered: 1 of its layers are in another registry\.$/,
    ],
    nested: [
      await push({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [nested] }, mediaTypes.index),
      /^Unknown: It is an index\. Each of its images has a bill of its own\.$/,
    ],
  };
  const channels = ['latest/stable', 'latest/candidate', 'latest/beta', 'latest/edge'];
  const all = Object.values(images);
  for (const some of [all.slice(0, 4), all.slice(4)]) {
    const { id } = await send(Object.fromEntries(some.map(([{ digest }], at) => [channels[at]!, digest])));
    const { vulnerabilities } = await preview(id);
    const ofImages = vulnerabilities.incomplete
      .filter(({ resource }: { resource: string | null }) => resource !== null)
      .sort((a: { revision: number }, b: { revision: number }) => a.revision - b.revision)
      .map(({ why: reason }: { why: string }) => reason);
    t.match(
      ofImages.slice(-some.length),
      some.map(([, reason]) => reason),
    );
    t.same(vulnerabilities.new, []);
  }
});

t.test('a feed does not bring packages that it knows to be vulnerable past the approval policy', async (t) => {
  const { image, send, preview, feed, feedDepot, run, judge } = await twoStores(
    t,
    'vulnerabilities = ["1 of B for critical"]',
  );
  await feed(osvZip([advisory(1001, '3.0.1', 'critical')]));
  await feedDepot(osvZip([advisory(1001, '3.0.2', 'critical', '2026-05-01T10:00:00Z')]));
  const { digest } = await image('amd64', [{ content: release }, { content: ssl('3.0.1') }]);
  const both = await send({ 'latest/stable': digest }, "--packages 'feed/*' --packages 'charm/*'");
  t.match(await preview(both.id), { vulnerabilities: { new: [] } }, 'the present feed does not know it');
  t.match(await run(`transfer accept ${both.id} --yes`), {
    code: 1,
    err: /With the feeds of this transfer, .* more vulnerabilities: .*image revision 1 has CVE-2026-1001\. Import the feed/,
  });
  await feed(osvZip([advisory(1001, '3.0.2', 'critical', '2026-05-02T10:00:00Z')]));
  t.match(await run(`transfer accept ${both.id} --yes`), { code: 1, err: /Waits for 1 more approval/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  t.match(await run(`transfer accept ${both.id} --yes`), { code: 0 });
});

t.test('an interrupted receipt leaves no image unread, and no image is read twice', async (t) => {
  const { store, done, image, send, preview, feed, run, judge } = await twoStores(
    t,
    'vulnerabilities = ["1 of B for low"]',
  );
  await feed(osvZip([advisory(1001, '3.0.2', 'critical')]));
  const read: string[] = [];
  /** Receives a file again; the reading of images fails after some. */
  const receiveAgain = (file: string, succeeding = Infinity) => {
    read.length = 0;
    return receivingAt(store.directory, file, async (content, readImage) => {
      if (read.length >= succeeding) throw new Error('the process ends here');
      read.push(content.manifest);
      return readImage(content);
    });
  };
  const oldSsl = await image('amd64', [{ content: release }, { content: ssl('3.0.1') }]);
  const newSsl = await image('amd64', [{ content: release }, { content: ssl('3.0.2') }]);
  const { id, file } = await send({ 'latest/edge': newSsl.digest, 'latest/stable': oldSsl.digest });
  await done(`transfer discard ${id}`);
  await t.rejects(receiveAgain(file, 1), { message: 'the process ends here' });
  const unread =
    /The image revision \d of charm\/redis has not been read yet, so .* 'larder transfer receive' on its files/;
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: unread }, 'it is not accepted unread');
  t.match(await preview(id), {
    vulnerabilities: { incomplete: [{ resource: null }, { why: 'Unknown: It has not been read yet.' }] },
  });
  await receiveAgain(file);
  t.equal(read.length, 1, 'the other one was read before');
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /Waits for 1 more approval/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  t.match(await run(`transfer accept ${id} --yes`), { code: 0 });

  const other = await image('amd64', [{ content: release }, { content: ssl('3.0.0') }]);
  const next = await send({ 'latest/beta': other.digest });
  await done(`transfer discard ${next.id}`);
  await receiveAgain(next.file);
  t.equal(read.length, 1, 'the images of the store are not read again');
});

t.test('an interruption ends the receipt while an image is read', async (t) => {
  const stopping = new AbortController();
  const started = Promise.withResolvers<undefined>();
  const reviewer = {
    imageBill() {
      started.resolve(undefined);
      return Promise.withResolvers<never>().promise;
    },
  };
  const blobs = {
    prove: () => Promise.resolve(true),
    makeLocalCopy: (file: string) => Promise.resolve({ file, release: () => Promise.resolve() }),
  };
  const read = createImageReading({ blobs: blobs as never, reviewer: reviewer as never, signal: stopping.signal });
  const reading = read({ manifest: '0', parts: [] });
  await started.promise;
  stopping.abort(new Error('interrupted'));
  await t.rejects(reading, { message: 'interrupted' });
});
