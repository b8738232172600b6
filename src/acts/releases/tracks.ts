// Tracks, and the guardrails that restrict the tracks of a package.
import { isTrackName } from '#domain/releases/channel.ts';
import { checkGuardrail, matchesGuardrail } from '#domain/releases/track-guardrail.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Track } from '#records/releases/tracks.ts';
import { act } from '../act.ts';
import { refuseOtherThanSnap, refuseUnknownPeople } from './rollout-plans.ts';
import { requireCurrentPackage, packageObject } from '../packages/package.ts';

type NewTrack = Omit<Track, 'createdAt'>;

export const createTracks = act({
  name: 'create_tracks',
  summary: "Create tracks that match one of the package's guardrails; all of them or none.",
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage }) => packageObject(subject),
  gate: { never: "the package's guardrails say what may be created" },

  async perform(tx, { package: subject, tracks }: { package: PublishedPackage; tracks: NewTrack[] }, { at, note }) {
    refuseBadTracks(tracks);
    await requireCurrentPackage(tx, subject);
    const patterns = (await tx.guardrails.list(subject.id)).map(({ pattern }) => pattern);
    const present = new Set((await tx.tracks.list(subject.id)).map(({ name }) => name));
    for (const track of tracks) {
      const { name } = track;
      if (present.has(name)) throw new Refusal('conflicting-tracks', `Conflicting track exists: '${name}'.`);
      if (!patterns.some((pattern) => matchesGuardrail(pattern, name))) {
        throw new Refusal('invalid-tracks', `Invalid track name '${name}': ${allowed(subject.name, patterns)}`);
      }
      await refuseBadPlan(tx, subject, track);
      await tx.tracks.add(subject.id, { ...track, createdAt: at });
    }
    note({ tracks: tracks.map(({ name }) => name) });
  },
});

interface OfTrack {
  package: PublishedPackage;
  /** The track's name. */
  track: string;
}

export const updateTrack = act<OfTrack & { changes: Partial<Omit<NewTrack, 'name'>> }, Track>({
  name: 'update_track',
  summary: 'Change the version pattern and the phasing of a track.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'the channels keep their revisions' },

  async perform(tx, { package: subject, track: name, changes }, { note }) {
    const before = await trackOf(tx, subject, name);
    const track = { ...before, ...changes };
    refuseBadPhasing(track);
    await refuseBadPlan(tx, subject, changes);
    await tx.tracks.update(subject.id, track);
    note({ track: name, ...changes });
    return track;
  },
});

export const deleteTrack = act<OfTrack, void>({
  name: 'delete_track',
  summary: 'Delete a track with empty channels and branches.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'its channels hold nothing' },

  async perform(tx, { package: subject, track: name }, { at, note }) {
    await trackOf(tx, subject, name);
    if (name === 'latest') throw new Refusal('conflict', "The track 'latest' belongs to every package.");
    if ((await requireCurrentPackage(tx, subject)).defaultTrack === name) {
      throw new Refusal(
        'conflict',
        `'${name}' is the default track of '${subject.name}'. Make another track the default first.`,
      );
    }
    const held = (await tx.releases.current(subject.id, at)).map(({ channel }) => channel);
    const open = [...new Set(held.filter((channel) => channel.startsWith(`${name}/`)))];
    if (open.length > 0)
      throw new Refusal('conflict', `The track '${name}' is not empty. Close ${open.join(', ')} first.`);
    await tx.tracks.remove(subject.id, name);
    note({ track: name });
  },
});

async function trackOf(tx: ChangeRecords, subject: PublishedPackage, name: string): Promise<Track> {
  const tracks = await tx.tracks.list(subject.id);
  const existing = tracks.find((track) => track.name === name);
  if (existing !== undefined) return existing;
  throw new Refusal('resource-not-found', `'${subject.name}' has no track '${name.slice(0, 60)}'.`);
}

function refuseBadTracks(tracks: readonly NewTrack[]): void {
  for (const { name } of tracks) {
    if (name === 'latest') throw new Refusal('api-error', "Creation of 'latest' track is not allowed");
    if (isTrackName(name)) continue;
    throw new Refusal(
      'invalid-tracks',
      `Invalid track name '${name.slice(0, 60)}': it has at most 28 letters and digits, with single _, . or - between them.`,
    );
  }
  const names = tracks.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) {
    throw new Refusal('conflicting-tracks', `Conflicting track exists: '${twice}' is named twice.`);
  }
  for (const track of tracks) refuseBadPhasing(track);
}

async function refuseBadPlan(
  tx: ChangeRecords,
  subject: PublishedPackage,
  { rollout }: Pick<NewTrack, 'rollout'>,
): Promise<void> {
  if (rollout === undefined) return;
  refuseOtherThanSnap(subject);
  await refuseUnknownPeople(tx, rollout);
}

function refuseBadPhasing({ name, automaticPhasingPercentage: phasing }: NewTrack): void {
  if (phasing === null || phasing <= 100) return;
  throw new Refusal('api-error', `The automatic-phasing-percentage of '${name}' is above 100.`);
}

const allowed = (name: string, patterns: string[]): string =>
  patterns.length === 0
    ? `'${name}' has no track guardrail. Ask the store administrator to set one.`
    : `it matches no track guardrail of '${name}' (${patterns.join(', ')})`;

interface Guarded {
  package: PublishedPackage;
  pattern: string;
}

export const addGuardrail = act({
  name: 'add_guardrail',
  summary: 'Allow the publishers of a package to create tracks if the whole name matches a pattern.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: Guarded) => packageObject(subject),
  gate: { never: 'a new track is empty until something is released to it' },

  async perform(tx, { package: subject, pattern }: Guarded, { at, note }) {
    checkGuardrail(pattern);
    await requireCurrentPackage(tx, subject);
    if (!(await tx.guardrails.claim(subject.id, { pattern, createdAt: at }))) {
      throw new Refusal('conflict', `${packageObject(subject)} has the guardrail ${pattern} already.`);
    }
    note({ pattern });
  },
});

export const removeGuardrail = act({
  name: 'remove_guardrail',
  summary: 'Remove a track guardrail: new tracks may no longer match its pattern. Existing tracks stay.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: Guarded) => packageObject(subject),
  gate: { never: 'existing tracks stay as they are' },

  async perform(tx, { package: subject, pattern }: Guarded, { note }) {
    if (!(await tx.guardrails.remove(subject.id, pattern))) {
      throw new Refusal(
        'resource-not-found',
        `${packageObject(subject)} has no guardrail ${pattern}. List its guardrails with 'larder guardrail list'.`,
      );
    }
    note({ pattern });
  },
});
