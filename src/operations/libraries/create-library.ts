import { onCharm } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';

export const createLibrary = operation({
  name: 'create_library',
  method: 'POST',
  path: '/v1/charm/libraries/:charm_name',
  since: 0,
  summary: 'Give a library of a charm its id; the same name always has the same.',
  access: onCharm('package-manage-revisions'),
  body: 'CreateLibraryRequest',
  response: 'CreateLibraryResponse',

  async handle(call) {
    const { package: subject, body, records, now, newId } = call;
    const name = body['library-name'];
    const known = await records.charmLibraries.named(subject.id, name);
    if (known !== undefined) return { 'library-id': known.id };
    const at = timestamp(now());
    const library = { id: newId.uuid().replaceAll('-', ''), packageId: subject.id, name, createdAt: at };
    const entry = { ...by(call, 'create_library'), at, object: `charm/${subject.name}`, details: { library: name } };
    const id = await records.change(entry, async (tx) => {
      const twin = await tx.charmLibraries.named(subject.id, name);
      if (twin === undefined) await tx.charmLibraries.add(library);
      return twin?.id ?? library.id;
    });
    return { 'library-id': id };
  },
});
