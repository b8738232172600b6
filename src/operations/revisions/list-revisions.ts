import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { membersIn, pick } from '../present.ts';
import { presentRevision, slimSnapFields } from './present.ts';

/** The default and the maximum number of listed revisions. */
const defaultLimit = 100;
const maxLimit = 500;

export const listRevisions = operation({
  name: 'list_revisions',
  method: 'GET',
  path: '/v1/:namespace/:name/revisions',
  since: 1,
  summary: "List a package's revisions, newest first.",
  access: onPackage('package-view-revisions'),
  query: 'ListRevisionsQuery',
  response: 'ListRevisionsResponse',

  async handle({ package: subject, query, records }) {
    const limit = Math.min(maxLimit, Number(query.limit ?? defaultLimit));
    const single =
      query.revision === undefined ? undefined : await records.revisions.find(subject.id, Number(query.revision));
    const selected =
      query.revision === undefined
        ? await records.revisions.list(subject.id, limit)
        : (single === undefined ? [] : [single]).slice(0, limit);
    const isSlim = subject.namespace === 'snap' && query.fields === undefined;
    const members = membersIn(isSlim ? slimSnapFields : query.fields);
    const numbers = selected.map(({ revision }) => revision);
    const commits = members.has('craft') ? await records.buildSets.commitsOf(subject.id, numbers) : undefined;
    const shown = selected.map((revision) =>
      pick(presentRevision(revision, subject.namespace, commits?.get(revision.revision)), members),
    );
    if (query['include-craft-yaml'] !== 'true') return { revisions: shown };
    const recipes = new Map(
      (await records.revisions.craftYaml(subject.id, numbers)).map(({ revision, craftYaml }) => [revision, craftYaml]),
    );
    return { revisions: shown.map((each, at) => ({ ...each, 'craft-yaml': recipes.get(numbers[at] ?? 0) ?? null })) };
  },
});
