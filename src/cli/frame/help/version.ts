// larder version
import { version as release } from '#platform/version.ts';
import { command } from '../command.ts';

export const version = command({
  name: 'version',
  summary: 'Show the release of larder.',
  examples: ['larder version', 'larder version --json'],

  run: () => ({
    text: `larder ${release} (Node ${process.versions.node}, ${process.platform} ${process.arch})`,
    json: { version: release, node: process.versions.node, platform: process.platform, arch: process.arch },
  }),
});
