// Performs the follow-ups of pushes: when an upload becomes a revision, pushes its components and releases it to the requested channels.
// Pending follow-ups are in the records, so an interrupted run continues after the next start.
import type { Logger } from 'pino';

import type { Acts, Actor } from '#acts/act.ts';
import { holdFollowUp, refuseFollowUp } from '#acts/uploads/follow-ups.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { pushResource } from '#acts/uploads/uploads.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { seconds } from '#domain/clock.ts';
import type { Quota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { FollowUp } from '#records/uploads/follow-ups.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { forEachPageItem, createRoundRunner, type RoundRunner } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';

/** Performs pending follow-ups. `soon` is called when a review ends or a follow-up is added. */
export interface PushFinisher extends Omit<RoundRunner<void>, 'run'> {
  /** Checks for pending follow-ups every second, because a command on the host can approve an upload alongside the server. */
  job: BackgroundJob;
}

interface PushFinishingOptions {
  records: StoreRecords;
  acts: Acts;
  log: Logger;
  /** Notifies the review queue that a component was pushed. */
  reviewSoon: () => void;
  /** Default quota of publishers. */
  quota: () => Quota;
}

type DueFollowUp = Awaited<ReturnType<StoreRecords['afterReview']['due']>>[number];

interface FollowUpAttempt {
  subject: PublishedPackage;
  followUp: FollowUp;
  options: Tracked;
}

/** `held` has the follow-ups that wait for approvals, each with the cache generation of the proposals at its last attempt. */
type Tracked = PushFinishingOptions & { held: Map<string, object> };

const pageSize = 100;

export function createPushFinisher(services: PushFinishingOptions): PushFinisher {
  const options: Tracked = { ...services, held: new Map() };
  const { records, log } = options;
  const due = records.afterReview.due;
  const all = () =>
    forEachPageItem(
      (after?: DueFollowUp) => due(after?.id ?? '', pageSize),
      pageSize,
      (upload) => finish(upload, options),
    );
  const { run, soon, idle } = createRoundRunner(all, (error) => {
    log.error({ err: error }, 'cannot finish the follow-ups of uploads; they are tried again within a second');
  });
  return {
    job: {
      name: 'finish-pushes',
      inDoubt: 'runs',
      // A check reads one row by its index, and each follow-up takes effect once even if two processes try it. A lease would cost more.
      every: seconds(1),
      oncePer: 'process',
      async run() {
        if ((await due('', 1)).length > 0) await run();
        return {};
      },
    },
    soon,
    idle,
  };
}

/** Performs the follow-ups of one revision: pushes its components, then, when these are reviewed, releases it to channels. */
async function finish({ id, packageId, revision }: DueFollowUp, options: Tracked): Promise<void> {
  const { records, acts, reviewSoon, quota } = options;
  const subject = await records.packages.byId(packageId);
  if (subject === undefined) return; // The package was unregistered and its uploads were deleted.
  const followUps = await records.afterReview.of(id);
  for (const followUp of followUps.filter(({ kind, settled }) => kind === 'component' && !settled)) {
    const component = { package: subject, resource: followUp.name, upload: followUp.component ?? '', revision };
    await attempt({ subject, followUp, options }, (actor) =>
      acts.do(pushResource, actor, { ...component, followUp, defaultQuota: quota() }),
    );
    reviewSoon();
  }
  const components = await reviewedComponents(subject, id, records);
  if (components === undefined) return; // `soon` is called again when the last component has been reviewed.
  const { resources, refused } = components;
  for (const followUp of followUps.filter(({ kind, settled }) => kind === 'channel' && !settled)) {
    await attempt({ subject, followUp, options }, (actor) => {
      if (refused !== undefined) {
        throw new Refusal(
          'conflict',
          `Its component '${refused}' was not accepted. Push a correct file for the component, then release revision ${String(revision)}.`,
        );
      }
      const channel = parseChannel(followUp.name);
      if (channel === undefined) throw new Refusal('api-error', `'${followUp.name}' is not a channel.`);
      const { onlyIfNewer } = followUp;
      const release = { channel, revision, progressive: everyDevice, resources, onlyIfNewer };
      return acts.do(pushReleases, actor, { package: subject, releases: [release], followUp });
    });
  }
}

/** The components of an upload after their reviews. A rejected component blocks the releases. */
interface ReviewedComponents {
  resources: { name: string; revision: number }[];
  /** Name of the first rejected component. */
  refused: string | undefined;
}

/** Returns the components that were pushed with an upload; undefined while one of them waits for review. */
async function reviewedComponents(
  subject: PublishedPackage,
  id: string,
  records: StoreRecords,
): Promise<ReviewedComponents | undefined> {
  const reviewed: ReviewedComponents = { resources: [], refused: undefined };
  for (const { kind, name, component, error } of await records.afterReview.of(id)) {
    if (kind !== 'component') continue;
    const review = error === null ? await records.uploads.review(subject.id, component ?? '') : undefined;
    if (review?.status === 'new' || review?.status === 'scanned') return undefined;
    const revision = review?.revision ?? null;
    if (revision === null) reviewed.refused ??= name;
    else reviewed.resources.push({ name, revision });
  }
  return reviewed;
}

/** Performs one follow-up on behalf of the account that requested it. Records an error if it fails, so that clients stop waiting. */
async function attempt(
  { subject, followUp, options }: FollowUpAttempt,
  work: (actor: Actor) => Promise<unknown>,
): Promise<void> {
  const { records, acts, log, held } = options;
  const key = `${followUp.uploadId} ${followUp.kind} ${followUp.name}`;
  // A follow-up that waits for approval is tried again after any proposal changes.
  const proposals = await records.cacheGenerations.proposals();
  if (held.get(key) === proposals) return;
  held.delete(key);
  const requester = { actor: followUp.wantedBy, sessionId: followUp.sessionId, requestId: followUp.requestId };
  try {
    await refuseStranger(subject, followUp, records);
    await work(requester);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : undefined;
    if (refusal === undefined)
      log.error({ err: error, upload: followUp.uploadId }, 'cannot finish a follow-up of an upload');
    if (refusal?.code === 'approval-required') {
      await hold({ subject, followUp, options }, requester, refusal);
      // Store the generation read at the start: the next round must see the proposal that this attempt has just made.
      held.set(key, proposals);
      return;
    }
    // Another process has already performed it.
    if (
      (await records.afterReview.of(followUp.uploadId)).some((current) => isSame(current, followUp) && current.settled)
    )
      return;
    const { code = 'internal-error', message = 'The store could not do this. Its log has the reason.' } = refusal ?? {};
    await acts.do(refuseFollowUp, requester, { package: subject, followUp, error: { code, message } });
  }
}

/** Records, once, which approval the follow-up waits for. */
async function hold(
  { subject, followUp, options }: FollowUpAttempt,
  actor: Actor,
  { code, message }: Refusal,
): Promise<void> {
  if (followUp.error?.message === message) return;
  await options.acts.do(holdFollowUp, actor, { package: subject, followUp, reason: { code, message } });
}

/** Refuses the follow-up if its account no longer has rights on the package or its token was revoked. A review can take days. */
async function refuseStranger(
  subject: PublishedPackage,
  { wantedBy, sessionId }: FollowUp,
  { accounts, collaborators, macaroons }: StoreRecords,
): Promise<void> {
  const hasPart =
    subject.publisherId === wantedBy ||
    (await collaborators.has(subject.id, wantedBy)) ||
    (await accounts.isStoreAdministrator(wantedBy));
  if (!hasPart || (await accounts.disabledAt(wantedBy)) !== null) {
    throw new Refusal('forbidden', `The account that pushed this has no rights on '${subject.name}' any more.`);
  }
  const session = sessionId === null ? undefined : await macaroons.find(sessionId);
  if (session === undefined || session.revokedAt === null) return;
  throw new Refusal('forbidden', 'The token of this push has been revoked.');
}

const isSame = (followUp: FollowUp, other: FollowUp): boolean =>
  followUp.kind === other.kind && followUp.name === other.name;
