import { onQueriedPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { fullChannelName, newest } from './filters.ts';
import { presentBuildSet } from './present.ts';

export const buildsetStatus = operation({
  name: 'buildset_status',
  method: 'GET',
  path: '/v1/craft/buildsets',
  since: 43,
  summary: "List a package's build sets with the state of their builds, newest first.",
  access: onQueriedPackage('package-view'),
  query: 'BuildsetStatusQuery',
  response: 'BuildsetStatusResponse',
  refuses: ['resource-not-found'],

  async handle({ package: subject, query, records }) {
    const { 'buildset-id': id = null, plane = null, status = null } = query;
    const channel = fullChannelName(query.channel);
    const sets = await records.buildSets.list(subject.id, { id, channel, plane, status }, newest);
    const builds = Map.groupBy(
      await records.buildSets.buildsOf(sets.map((set) => set.id)),
      ({ buildSetId }) => buildSetId,
    );
    return { buildsets: sets.map((set) => presentBuildSet(set, builds.get(set.id) ?? [], subject)) };
  },
});
