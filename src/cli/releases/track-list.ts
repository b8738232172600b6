// larder track list
import { presentTrack } from '#operations/packages/present.ts';
import { planText } from '#domain/releases/rollout.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';

export const trackList = command({
  name: 'track list',
  summary: "List a package's tracks, with the pattern of their versions and their phasing.",
  positionals: [packageArgument],
  examples: ['larder track list snap/hello', 'larder track list snap/hello --json'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const { id } = await findPackage(records, positionals.package);
      const tracks = await records.tracks.list(id);
      const rows = tracks.map(({ name, versionPattern, automaticPhasingPercentage: phasing, rollout, createdAt }) => {
        const share = phasing === null ? '-' : `${String(phasing)} %`;
        return [name, versionPattern ?? '-', rollout === undefined ? share : planText(rollout), createdAt.slice(0, 10)];
      });
      return {
        text: table(['TRACK', 'VERSIONS', 'PHASING', 'CREATED'], rows),
        json: { tracks: tracks.map(presentTrack) },
      };
    }),
});
