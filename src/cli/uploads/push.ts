// larder package push
import { pushReleases } from '#acts/releases/releases.ts';
import { pushResource, pushRevision } from '#acts/uploads/uploads.ts';
import { createResourceRequest } from '#acts/resources/resources.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { nameProblem } from '#domain/packages/package-name.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { withBlobs } from '#data/blobs.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Review } from '#records/uploads/uploads.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { command, Failure, type CommandResult, type CommandCall } from '../frame/command.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { parseChannelArguments } from '../releases/channel-arguments.ts';
import { awaitReview } from './await-review.ts';
import { packageArgument, parsePackageName, findPackage } from '../packages/package-argument.ts';
import { withReviewer } from './reviewer.ts';
import { uploadFile, withSentFile, type SentFile } from './sent-file.ts';

export const packagePush = command({
  name: 'package push',
  summary: 'Push a file of this host as a new revision of its package, and wait for the review.',
  description:
    'A snap, charm or bundle names its own package; other files need --package. The revision belongs to the ' +
    'publisher of the package; the audit log names the user who pushed it. Exit code 1 can also mean that the ' +
    'upload waits for a person to review it.',
  positionals: [
    { name: 'file', summary: 'The file to push: a snap, charm, bundle, rock, or another file that is the package.' },
  ],
  options: {
    package: {
      type: 'string',
      value: 'NAMESPACE/NAME',
      summary: 'The package. Default: the package that the file names.',
    },
    release: {
      type: 'string',
      value: 'CHANNEL',
      summary: 'Channels to release the revision to when it is approved, separated by commas.',
      repeated: true,
    },
  },
  examples: [
    'larder package push ./hello_1.0_all.snap --release edge --yes',
    'larder package push ./hello.rock --package rock/hello --json',
  ],
  confirm: {
    question: ({ positionals, options: { release } }) =>
      release.length === 0
        ? undefined
        : `${positionals.file} is released to ${namesOf(parseChannelArguments(release))} as soon as it is approved.`,
    unattended: 'goes on',
  },

  run(call) {
    const { positionals, options } = call;
    const channels = parseChannelArguments(options.release);
    const chosenPackage = options.package === undefined ? undefined : parsePackageName(options.package);
    return withSentFile(positionals.file, (file) =>
      withStore(call, (store) =>
        withReviewer(async (reviewer) => {
          const { namespace, name } = chosenPackage ?? (await readOwnName(reviewer, file));
          const subject = await registered(store, `${namespace}/${name}`);
          const upload = await uploadAndReview(store, call, { file, reviewer }, (upload) =>
            store.acts.do(pushRevision, store.person, { upload, package: subject, ...pushOnBehalf(store, subject) }),
          );
          const waits = describeWaiting(subject, upload);
          if (waits !== undefined) return waits;
          const released = await release(store, subject, upload, channels);
          const to = released.length === 0 ? '' : `; it is released to ${released.join(', ')}`;
          const { object, json } = outcome(subject, upload);
          const notices = await noticesOf(store, upload);
          const text = `${positionals.file} is revision ${String(upload.revision)} of ${object}${to}.`;
          return { text: [text, ...notices].join('\n'), json: { ...json, released, notices } };
        }),
      ),
    );
  },
});

/** The publisher, who counts as the author of the upload, with the default quota. */
const pushOnBehalf = ({ config }: OpenStore, { publisher }: PublishedPackage) => ({
  pushedBy: publisher.id,
  defaultQuota: readDefaultQuota(config.quotas),
});

export const packagePushResource = command({
  name: 'package push-resource',
  summary: 'Push a file of this host as a new revision of a resource of a package.',
  description: 'A revision of the package must declare the resource.',
  positionals: [
    packageArgument,
    { name: 'resource', summary: 'The name of the resource in the declaration.' },
    { name: 'file', summary: 'The file.' },
  ],
  options: {
    revision: {
      type: 'integer',
      value: 'REVISION',
      minimum: 1,
      maximum: 999_999_999,
      summary: 'The revision of the snap that the component belongs to. Default: the newest.',
    },
  },
  examples: ['larder package push-resource charm/hello config ./config.tar'],

  run(call) {
    const { positionals, options } = call;
    const { resource } = positionals;
    parsePackageName(positionals.package);
    return withSentFile(positionals.file, (file) =>
      withStore(call, (store) =>
        withReviewer(async (reviewer) => {
          const subject = await registered(store, positionals.package);
          const target = { package: subject, resource, revision: options.revision };
          // Check early, before the bytes are read; the act checks again.
          await createResourceRequest(store.records, target);
          const upload = await uploadAndReview(store, call, { file, reviewer }, (upload) =>
            store.acts.do(pushResource, store.person, { ...target, upload, ...pushOnBehalf(store, subject) }),
          );
          const waits = describeWaiting(subject, upload);
          if (waits !== undefined) return waits;
          const { object, json } = outcome(subject, upload);
          return {
            text: `${positionals.file} is revision ${String(upload.revision)} of the resource ${resource} of ${object}.`,
            json,
          };
        }),
      ),
    );
  },
});

interface PushSource {
  file: SentFile;
  reviewer: Reviewer;
}

/** The package that a file names in its metadata. */
async function readOwnName(
  reviewer: Reviewer,
  { name: file, handle }: SentFile,
): Promise<{ namespace: string; name: string }> {
  const result = await reviewer.ownName(handle.fd);
  if ('errors' in result) throw rejected(file, result.errors);
  const { ownName: packageInFile } = result;
  if (packageInFile !== undefined) {
    const problem = nameProblem(packageInFile.name);
    if (problem === undefined) return packageInFile;
    throw rejected(file, [{ message: problem }]);
  }
  throw new Failure(`${file} does not name its package; name it with --package`, {
    code: ' does not name its package; name it with --package',
  });
}

async function registered({ records }: OpenStore, packageText: string): Promise<PublishedPackage> {
  try {
    return await findPackage(records, packageText);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(
      error.code,
      `${error.message} 'larder package register ${packageText} --account ID' registers its name.`,
    );
  }
}

/** Uploads a file, claims it, and waits for its review; returns an approved upload, or an upload that a person has to review. */
async function uploadAndReview(
  store: OpenStore,
  call: Pick<CommandCall, 'json' | 'quiet' | 'world'>,
  { file, reviewer }: PushSource,
  claim: (upload: string) => Promise<unknown>,
): Promise<Review> {
  const progress = createProgress(call);
  const upload = await withBlobs(store, async ({ blobs, digests }) => {
    const id = await uploadFile(store, blobs, file, progress);
    await claim(id);
    progress.at('reviewing it', 0, 0);
    return awaitReview(store, { blobs, digests, reviewer }, id, call);
  }).finally(() => {
    progress.end();
  });
  if (upload.status === 'rejected') {
    throw (await pushedBefore(store, file.name, upload)) ?? rejected(file.name, upload.errors ?? []);
  }
  return upload;
}

/** The error if the file is rejected because it is already a revision of the package. */
async function pushedBefore(
  { records }: OpenStore,
  file: string,
  { packageId, resource, sha3_384 }: Review,
): Promise<Failure | undefined> {
  const twin = resource === null ? await records.revisions.withContent(packageId, sha3_384) : undefined;
  const subject = twin && (await records.packages.byId(packageId));
  if (twin === undefined || subject === undefined) return undefined;
  const [object, revision] = [`${subject.namespace}/${subject.name}`, String(twin.revision)];
  const remedy =
    twin.withdrawnBecause === null
      ? `release it with 'larder release ${object} ${revision} CHANNEL'`
      : `it is withdrawn (${visible(twin.withdrawnBecause)}); 'larder revision restore ${object} ${revision}' makes it available again`;
  return new Failure(`${file} is revision ${revision} of ${object} already; ${remedy}`, { code: 'rejected' });
}

const rejected = (file: string, errors: readonly { message: string }[]): Failure =>
  new Failure(`${file} is rejected: ${errors.map(({ message }) => message).join(' ')}`, { code: 'rejected' });

/** The result for an upload that waits for a person; undefined for any other upload. */
function describeWaiting(subject: PublishedPackage, upload: Review): CommandResult | undefined {
  if (upload.status !== 'scanned') return undefined;
  const { object, json } = outcome(subject, upload);
  const text = `It passed the store's review and waits for a person, as every upload of ${object} does: 'larder review approve ${upload.id}' makes it a revision.`;
  return { text, json, exitCode: 1 };
}

/** The files of the revision that the store does not use, with the reasons. */
async function noticesOf({ records }: OpenStore, { packageId, revision }: Review): Promise<string[]> {
  const stored = revision === null ? undefined : await records.revisions.find(packageId, revision);
  return stored?.details.notices ?? [];
}

function outcome(
  { namespace, name }: PublishedPackage,
  { id, status, revision, resource, size, sha3_384 }: Review,
): { object: string; json: object } {
  const object = `${namespace}/${name}`;
  return { object, json: { package: object, 'upload-id': id, status, resource, revision, size, 'sha3-384': sha3_384 } };
}

async function release(
  { acts, person }: OpenStore,
  subject: PublishedPackage,
  { revision }: Review,
  channels: readonly Channel[],
): Promise<string[]> {
  if (channels.length === 0) return [];
  const releases = channels.map((channel) => ({ channel, revision, progressive: everyDevice, resources: [] }));
  try {
    return (await acts.do(pushReleases, person, { package: subject, releases })).map(({ channel }) => channel);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = `It is revision ${String(revision)} of ${subject.namespace}/${subject.name}, but not released: ${visible(error.message)}`;
    throw new Failure(message, { code: error.code, cause: error });
  }
}

const namesOf = (channels: readonly Channel[]): string => channels.map(({ name }) => name).join(', ');
