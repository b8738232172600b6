import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { membersIn, pick } from '../present.ts';
import { presentRevision, slimSnapFields } from './present.ts';

/** The default and the maximum number of listed revisions. */
const usual = 100;
const most = 500;

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
    const limit = Math.min(most, Number(query.limit ?? usual));
    const one =
      query.revision === undefined ? undefined : await records.revisions.find(subject.id, Number(query.revision));
    const found =
      query.revision === undefined
        ? await records.revisions.list(subject.id, limit)
        : (one === undefined ? [] : [one]).slice(0, limit);
    const isSlim = subject.namespace === 'snap' && query.fields === undefined;
    const members = membersIn(isSlim ? slimSnapFields : query.fields);
    const numbers = found.map(({ revision }) => revision);
    const commits = await records.buildSets.commitsOf(subject.id, numbers);
    const shown = found.map((one) => pick(presentRevision(one, subject.namespace, commits.get(one.revision)), members));
    if (query['include-craft-yaml'] !== 'true') return { revisions: shown };
    const recipes = new Map(
      (await records.revisions.craftYaml(subject.id, numbers)).map(({ revision, craftYaml }) => [revision, craftYaml]),
    );
    return { revisions: shown.map((each, at) => ({ ...each, 'craft-yaml': recipes.get(numbers[at] ?? 0) ?? null })) };
  },
});
