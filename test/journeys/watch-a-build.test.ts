// A build, watched by its publisher from waiting to succeeded: a build host reports it, uploads its result and releases
// it, with the requests of Launchpad.
import t from 'tap';

import { snapFixture, type Client, type Reply } from '#test/fixtures/appliance.ts';
import { logIn, startIdentity } from '../identity/world.ts';

const edge = { name: 'latest/edge', track: 'latest', risk: 'edge', branch: null };
const platforms = ['amd64', 'arm64'].map((architecture) => ({
  name: 'ubuntu',
  channel: '24.04',
  architectures: [architecture],
}));
const [amd64, arm64] = platforms;

t.test('a build is watched from waiting to succeeded', async (t) => {
  const store = await startIdentity(t, (text) => text.replace(/^(?:# ?)?build_records = .*$/m, 'build_records = true'));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };

  // Launchpad requests a token of its own with the required permissions; ada logs in to the identity provider for it.
  const launchpad = store.with(
    await logIn(store, {
      description: 'tiny-app for launchpad.internal',
      packages: [{ type: 'snap', name: 'tiny-app' }],
      permissions: ['package-manage-releases', 'package-manage-revisions', 'package-view-revisions'],
    }),
  );
  t.match(await launchpad.get('/v1/snap/tiny-app'), { status: 401 }, 'it may not read the metadata');

  // A commit starts a workflow, and the workflow a build set of two builds that wait for a builder.
  const watch = async (query = '') =>
    (await ada.get(`/v1/craft/buildsets?package=snap/tiny-app${query}`)).body.buildsets as {
      id: string;
      builds: { id: string; status: string; 'completed-at': string | null; logs: object | null }[];
    }[];
  t.same(await watch(), []);
  const workflows = '/internal/v1/craft/commit-workflows';
  const workflow = must(
    await launchpad.post(workflows, {
      package: 'snap/tiny-app',
      'commit-hash': 'c0ffee',
      'craft-revision': 7,
      'craft-channel': edge,
      buildsets: [],
      status: null,
    }),
  );
  const set = must(
    await launchpad.post('/internal/v1/craft/buildsets', {
      package: {
        name: 'tiny-app',
        id,
        type: 'snap',
        'commit-hash': 'c0ffee',
        'craft-channel': edge,
        'craft-revision': 7,
        'craft-version': '9.1',
      },
      platforms,
      triggers: [{ type: 'commit' }],
      builds: [
        { status: 'waiting', platform: amd64 },
        { status: 'waiting', platform: arm64 },
      ],
    }),
  ) as Awaited<ReturnType<typeof watch>>[number];
  must(
    await launchpad.patch(`${workflows}/${String(workflow['id'])}`, {
      status: 'in-progress',
      buildsets: [{ id: set.id }],
    }),
  );
  const states = async () => (await watch())[0]?.builds.map(({ status }) => status);
  t.same(await states(), ['waiting', 'waiting']);
  t.match((await ada.get('/v1/craft/commit-workflows?package=snap/tiny-app')).body['commit-workflows'], [
    { status: 'in-progress', 'commit-hash': 'c0ffee', buildsets: [{ id: set.id }], 'completed-at': null },
  ]);

  // A builder takes the first; its log can be followed. For the second there is none, and it fails without having run.
  const [first, second] = set.builds.map((build) => `/internal/v1/craft/buildsets/${set.id}/builds/${build.id}`);
  store.clock.advance(60_000);
  must(await launchpad.patch(first!, { status: 'running', logs: { 'external-build-url': 'https://lp.internal/1' } }));
  t.same(await states(), ['running', 'waiting']);
  must(
    await launchpad.patch(second!, { status: 'failed', errors: [{ code: 'no-builder', message: 'None is free.' }] }),
  );
  t.match(await launchpad.patch(second!, { status: 'running' }), {
    status: 409,
    body: { 'error-list': [{ code: 'conflict', message: 'A build that is failed cannot become running.' }] },
  });
  t.match((await watch('&status=running'))[0]?.builds[0], { logs: { 'external-build-url': 'https://lp.internal/1' } });

  // The built file is uploaded without a token, pushed, reviewed, and released to edge.
  const upload = await launchpad.upload(await snapFixture('app-gzip'));
  const pushed = must(await launchpad.post('/v1/snap/tiny-app/revisions', { 'upload-id': upload }));
  t.equal(pushed['status-url'], `/v1/snap/tiny-app/revisions/review?upload-id=${upload}`);
  const revision = await reviewed(launchpad, pushed['status-url'] as string);
  t.match(await launchpad.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision }]), { status: 200 });
  store.clock.advance(60_000);
  must(await launchpad.patch(first!, { status: 'succeeded', 'binary-release': { channel: edge, revision } }));
  must(await launchpad.patch(`${workflows}/${String(workflow['id'])}`, { status: 'completed' }));

  // The publisher sees the result, and the commit of the revision in edge.
  t.match(await watch(`&buildset-id=${set.id}&channel=edge`), [
    {
      builds: [
        {
          status: 'succeeded',
          'completed-at': store.clock.now.toISOString(),
          errors: [],
          'binary-release': { channel: edge, revision: 1 },
        },
        { status: 'failed', errors: [{ code: 'no-builder' }], 'binary-release': null, logs: null },
      ],
    },
  ]);
  t.match((await ada.get('/v1/craft/commit-workflows?package=snap/tiny-app')).body['commit-workflows'], [
    { status: 'completed', 'completed-at': store.clock.now.toISOString() },
  ]);
  t.match((await ada.get('/v1/snap/tiny-app/releases')).body, {
    'channel-map': [{ channel: 'latest/edge', revision: 1 }],
    revisions: [{ revision: 1, craft: { commit: 'c0ffee' } }],
  });

  // Bob watches nothing, and Launchpad's token says nothing of other packages.
  const bob = await store.as('bob');
  t.match(await bob.get('/v1/craft/buildsets?package=snap/tiny-app'), { status: 404 });
  const other = (await ada.post('/v1/snap', { name: 'other' })).body as { id: string };
  t.match(await launchpad.post(workflows, { ...commitOf('snap/other') }), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required', message: /not valid for 'other'/ }] },
  });
  t.ok(other.id);
});

const commitOf = (name: string) => ({
  package: name,
  'commit-hash': null,
  'craft-revision': 7,
  'craft-channel': edge,
  buildsets: [],
  status: null,
});

function must({ status, body }: Reply): Record<string, unknown> {
  if (status >= 200 && status < 300) return body as Record<string, unknown>;
  throw new Error(`Launchpad fails: ${status} ${JSON.stringify(body)}`);
}

/** Asks again until the review is over. */
async function reviewed(launchpad: Client, url: string): Promise<number> {
  for (;;) {
    const [review, ...others] = must(await launchpad.get(url))['revisions'] as { status: string; revision: number }[];
    if (review === undefined || others.length > 0) throw new Error('Launchpad takes exactly one review');
    if (review.status === 'rejected') throw new Error(`Launchpad fails: ${JSON.stringify(review)}`);
    if (review.status === 'approved') return review.revision;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
