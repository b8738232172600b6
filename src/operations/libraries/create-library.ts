import { createLibrary as act } from '#acts/libraries/libraries.ts';
import { onCharm } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const createLibrary = operation({
  name: 'create_library',
  method: 'POST',
  path: '/v1/charm/libraries/:charm_name',
  since: 0,
  summary: 'Create the id of a library of a charm. The same name always gets the same id.',
  access: onCharm('package-manage-revisions'),
  body: 'CreateLibraryRequest',
  response: 'CreateLibraryResponse',

  async handle(call) {
    const { package: subject, body, records, acts, newId } = call;
    const name = body['library-name'];
    const existing = await records.charmLibraries.findByName(subject.id, name);
    if (existing !== undefined) return { 'library-id': existing.id };
    const freshId = newId.uuid().replaceAll('-', '');
    const { id } = await acts.do(act, caller(call), { package: subject, name, freshId });
    return { 'library-id': id };
  },
});
