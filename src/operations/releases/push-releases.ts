import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { PushReleasesRequest, PushReleasesResponse } from '#api/wire.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { parseChannel, type Channel } from '#domain/channel.ts';
import { reachesChannel } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { by } from '../by.ts';
import { resourcesOf } from './resources.ts';

/** A branch is forgotten so long after its last release. */
const branchLife = days(30);

export const pushReleases = operation({
  name: 'push_releases',
  method: 'POST',
  path: '/v1/:namespace/:name/releases',
  since: 1,
  summary: 'Release revisions to channels, or close channels; all of it or nothing.',
  access: onPackage('package-manage-releases'),
  body: 'PushReleasesRequest',
  response: 'PushReleasesResponse',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, principal, body, records, now } = call;
    const wanted = body.map((entry) => ({ entry, channel: channelOf(entry.channel) }));
    for (const { channel } of wanted) {
      if (reachesChannel(principal, channel)) continue;
      throw new Refusal('permission-required', `This token may not release to the channel '${channel.name}'.`);
    }
    const moment = now();
    const audit = {
      ...by(call, 'push_releases'),
      at: timestamp(moment),
      object: `${subject.namespace}/${subject.name}`,
      details: { releases: body.map(({ channel, revision }) => [channel, revision]) },
    };
    const released = await records.change(audit, async (tx) => {
      const tracks = new Set((await tx.tracks.list(subject.id)).map(({ name }) => name));
      const released: PushReleasesResponse['released'] = [];
      for (const { entry, channel } of wanted) {
        if (!tracks.has(channel.track)) {
          throw new Refusal(
            'api-error',
            `'${subject.name}' has no track '${channel.track}'; it has ${[...tracks].join(', ')}.`,
          );
        }
        const { revision } = entry;
        if (revision === null) await tx.releases.close(subject.id, channel.name);
        const resources = revision === null ? [] : await release(tx, subject, channel, { ...entry, revision }, moment);
        released.push({
          channel: channel.name,
          revision,
          resources: resources.map(({ name, revision }) => ({ name, revision })),
        });
      }
      return released;
    });
    return { released };
  },
});

function channelOf(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new Refusal(
    'api-error',
    `'${text}' is not a channel; write risk, track/risk or track/risk/branch, such as latest/edge.`,
  );
}

async function release(
  tx: Changes,
  subject: PublishedPackage,
  channel: Channel,
  entry: PushReleasesRequest[number] & { revision: number },
  moment: Date,
): Promise<Release['resources']> {
  const revision = await tx.revisions.find(subject.id, entry.revision);
  if (revision === undefined) {
    throw new Refusal('api-error', `'${subject.name}' has no revision ${entry.revision}.`);
  }
  if (revision.status === 'rejected') {
    throw new Refusal(
      'api-error',
      `Revision ${entry.revision} of '${subject.name}' was rejected and cannot be released.`,
    );
  }
  const progressive = progressOf(entry);
  if (progressive.percentage !== null && isWholeChannel(subject)) {
    throw new Refusal(
      'api-error',
      `A ${subject.type} is released to everybody at once; leave out 'progressive' for '${channel.name}'.`,
    );
  }
  const resources = await resourcesOf(tx, subject, {
    channel,
    revision: entry.revision,
    named: entry.resources ?? [],
    now: timestamp(moment),
  });
  for (const slot of slotsOf(subject, revision)) {
    // What reaches only a part of the devices lies over what the slot holds for all others.
    const over = progressive.percentage === null ? slot.slot : `${slot.slot}${progressiveSlot}`;
    if (progressive.percentage === null)
      await tx.releases.empty(subject.id, channel.name, `${slot.slot}${progressiveSlot}`);
    await tx.releases.fill({
      packageId: subject.id,
      channel: channel.name,
      ...slot,
      slot: over,
      revision: revision.revision,
      progressive,
      resources,
      releasedAt: timestamp(moment),
      expiresAt: channel.branch === null ? null : timestamp(after(moment, branchLife)),
    });
  }
  await tx.revisions.markReleased(subject.id, revision.revision);
  await tx.packages.publish(subject.id);
  return resources;
}

/** How a progressive release is kept beside the ordinary one of the same slot. */
const progressiveSlot = ' (progressive)';

/** A release to all devices is an ordinary one, and so is one that says nothing of its progress. */
function progressOf({ progressive }: PushReleasesRequest[number]): Release['progressive'] {
  const { percentage = null, paused = null } = progressive ?? {};
  if (percentage === null || percentage === 100) return { paused: null, percentage: null };
  return { paused: paused ?? false, percentage };
}

/** Whether a channel of the package holds one revision for everybody, of which nothing more is said when it is listed. */
const isWholeChannel = ({ namespace }: Pick<PublishedPackage, 'namespace'>): boolean =>
  namespace === 'bin' || namespace === 'rock';

type Slot = Pick<Release, 'slot' | 'architecture' | 'baseName' | 'baseChannel'>;

/** What a revision fills of a channel: one slot for each architecture of a snap, for each base of a charm, else all of it. */
function slotsOf({ namespace }: PublishedPackage, { details }: Revision): Slot[] {
  if (namespace === 'snap') {
    return (details.architectures ?? ['all']).map((architecture) => ({
      slot: architecture,
      architecture,
      baseName: null,
      baseChannel: null,
    }));
  }
  const bases = isWholeChannel({ namespace }) ? [] : (details.bases ?? []);
  if (bases.length === 0) return [{ slot: '*', architecture: null, baseName: null, baseChannel: null }];
  return bases.map(({ architecture, channel, name }) => ({
    slot: `${name}/${channel}/${architecture}`,
    architecture,
    baseName: name,
    baseChannel: channel,
  }));
}
