// Libraries of charms: give them ids and publish versions.
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act, DoneAlready } from '../act.ts';
import { requireCurrentPackage, packageObject } from '../packages/package.ts';

export const createLibrary = act({
  name: 'create_library',
  summary: 'Return the id of a charm library, and create it if needed; the same name always has the same id.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage; name: string; freshId: string }) =>
    packageObject(subject),
  gate: { never: 'an id alone gives no access' },

  async perform(
    tx,
    { package: subject, name, freshId }: { package: PublishedPackage; name: string; freshId: string },
    { at, note },
  ): Promise<{ id: string }> {
    note({ library: name });
    await requireCurrentPackage(tx, subject);
    const twin = await tx.charmLibraries.findByName(subject.id, name);
    if (twin !== undefined) throw new DoneAlready({ id: twin.id });
    await tx.charmLibraries.add({ id: freshId, packageId: subject.id, name, createdAt: at });
    return { id: freshId };
  },
});

interface NewVersion {
  package: PublishedPackage;
  libraryId: string;
  api: number;
  patch: number;
  hash: string;
  content: string;
  /** The account that publishes it. */
  publishedBy: string;
}

export const publishLibrary = act({
  name: 'publish_library',
  summary: 'Publish a version of a library of a charm.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewVersion) => packageObject(subject),
  gate: { never: 'libraries reach devices only in charms, which are released' },

  async perform(tx, { package: subject, publishedBy, ...version }: NewVersion, { at, note }) {
    const { libraryId, api, patch, hash, content } = version;
    note({ library: libraryId, api, patch });
    const library = await tx.charmLibraries.find(subject.id, libraryId);
    if (library === undefined)
      throw new Refusal('resource-not-found', `'${subject.name}' has no library '${libraryId.slice(0, 64)}'.`);
    const newest = await tx.charmLibraries.version({ libraryId, api, patch: null });
    if (newest?.patch === patch && newest.hash === hash && newest.content === content) {
      throw new DoneAlready(newest);
    }
    if (newest !== undefined && newest.patch >= patch) {
      throw new Refusal(
        'conflict',
        `The library '${library.name}' is at ${api}.${newest.patch} already. Give it a higher patch.`,
      );
    }
    await tx.charmLibraries.addVersion({ ...version, at, actor: publishedBy });
    const published = await tx.charmLibraries.version({ libraryId, api, patch: null });
    if (published === undefined) throw new Error(`cannot find the library ${libraryId} that was just published`);
    return published;
  },
});
