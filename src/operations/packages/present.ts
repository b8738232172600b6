import type { PackageMetadata } from '#contract/wire.ts';
import type { Guardrail } from '#records/releases/guardrails.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Track } from '#records/releases/tracks.ts';
import { presentAccount } from '../present.ts';
import { presentPlan } from '../releases/rollouts/rollout-plan.ts';

/** A package's metadata; `website` and `contact` are the first links of their kind. */
export const presentPackage = (
  subject: PublishedPackage,
  { tracks, guardrails }: { tracks: Track[]; guardrails: Guardrail[] },
  store: { id: string; baseUrl: string },
): PackageMetadata => ({
  authority: null,
  contact: subject.links.contact?.[0] ?? null,
  'default-track': subject.defaultTrack,
  description: subject.description,
  id: subject.id,
  links: subject.links,
  media: subject.icon === null ? [] : [{ type: 'icon', url: `${store.baseUrl}/icons/${subject.id}/${subject.icon}` }],
  name: subject.name,
  private: subject.private,
  publisher: presentAccount(subject.publisher),
  status: subject.status,
  store: store.id,
  summary: subject.summary,
  title: subject.title,
  'track-guardrails': guardrails.map(({ pattern, createdAt }) => ({ 'created-at': createdAt, pattern })),
  tracks: tracks.map(presentTrack),
  type: subject.type,
  website: subject.links.website?.[0] ?? null,
});

export const presentTrack = (track: Track) => ({
  'automatic-phasing-percentage': track.automaticPhasingPercentage,
  'created-at': track.createdAt,
  name: track.name,
  ...(track.rollout !== undefined && { rollout: presentPlan(track.rollout) }),
  'version-pattern': track.versionPattern,
});
