// larder version
import { commit, version as release } from '#platform/version.ts';
import { command } from '../command.ts';

export const version = command({
  name: 'version',
  summary: 'Show the release of larder, and the commit that it was built from.',
  examples: ['larder version', 'larder version --json'],

  run: () => {
    const { versions, platform, arch } = process;
    const from = commit === undefined ? '' : `commit ${commit.slice(0, 12)}, `;
    return {
      text: `larder ${release} (${from}Node ${versions.node}, ${platform} ${arch})`,
      json: { version: release, ...(commit !== undefined && { commit }), node: versions.node, platform, arch },
    };
  },
});
