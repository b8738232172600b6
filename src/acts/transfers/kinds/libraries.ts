// Libraries of charms in transfers.
import type { TransferLibrary } from '#contract/wire.ts';
import { subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { ContentKind } from './content-kind.ts';

export const libraryContent: ContentKind = {
  async plan(planning) {
    const { libraries = [], id, namespace } = planning.carried;
    const { byId, findByName } = planning.records.charmLibraries;
    for (const library of libraries) {
      const item = `library ${library.name}`;
      if (namespace !== 'charm') {
        planning.problem(item, `A ${namespace} has no libraries.`);
        continue;
      }
      const [existing, twin] = [await byId(library.id), await findByName(id, library.name)];
      if (existing !== undefined && (existing.packageId !== id || existing.name !== library.name))
        planning.problem(item, `The id '${library.id}' belongs to another library here.`);
      else if (existing === undefined && twin !== undefined)
        planning.problem(item, `It is stored here with the id '${twin.id}', not '${library.id}'.`);
      else await planVersions(planning, library, existing === undefined);
    }
  },

  async accept({ tx, doing, plan, subject, findings }) {
    const { charmLibraries } = tx;
    for (const { id, name, versions } of plan.libraries) {
      if ((await charmLibraries.byId(id)) === undefined)
        await charmLibraries.add({ id, packageId: subject.id, name, createdAt: doing.at });
      for (const { api, patch, hash, 'created-at': at, 'created-by': actor } of versions) {
        const { text: content } = await findings('library', subjectOf(subject.id, id, api, patch));
        await charmLibraries.addVersion({ libraryId: id, api, patch, hash, content, at, actor });
      }
    }
  },
};

/** Adds the versions of a library that are not here, and the library if it is new. */
async function planVersions(planning: PackagePlanning, library: TransferLibrary, isNew: boolean): Promise<void> {
  const existingVersions = await planning.records.charmLibraries.versions(library.id);
  const versions: TransferLibrary['versions'] = [];
  for (const version of library.versions) {
    const { api, patch, hash, content } = version;
    const item = `library ${library.name} ${String(api)}.${String(patch)}`;
    const existingVersion = existingVersions.find((other) => other.api === api && other.patch === patch);
    if (existingVersion !== undefined) {
      if (existingVersion.hash !== hash)
        planning.problem(item, 'It is stored here with another hash, so it cannot be accepted.');
      continue;
    }
    if (!(await planning.hasContent(item, content['sha3-384']))) continue;
    if (!(await planning.passesReview(subjectOf(planning.carried.id, library.id, api, patch), item))) continue;
    versions.push(version);
    planning.line({ kind: 'library', what: item, from: null, to: 'published' });
  }
  if (isNew && versions.length === 0)
    planning.line({ kind: 'library', what: `library ${library.name}`, from: null, to: 'registered' });
  if (versions.length > 0 || isNew) planning.plan.libraries.push({ ...library, versions });
}
