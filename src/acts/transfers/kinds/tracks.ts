// Tracks of packages in transfers.
import { isTrackName } from '#domain/releases/channel.ts';
import type { ContentKind } from './content-kind.ts';

export const trackContent: ContentKind = {
  async plan(planning) {
    const { id, tracks } = planning.carried;
    const existing = new Set((await planning.records.tracks.list(id)).map(({ name }) => name).concat('latest'));
    for (const name of tracks.filter((track) => !isTrackName(track)))
      planning.problem(`track ${name}`, 'This is not a valid track name.');
    planning.plan.tracks = tracks.filter((name) => !existing.has(name) && isTrackName(name));
    for (const track of planning.plan.tracks) planning.line({ kind: 'track', what: track, from: null, to: 'new' });
  },

  async accept({ tx, doing, plan, subject }) {
    for (const name of plan.tracks) {
      const track = { name, versionPattern: null, automaticPhasingPercentage: null, createdAt: doing.at };
      await tx.tracks.add(subject.id, track);
    }
  },
};
