import { publishLibrary as act } from '#acts/libraries/libraries.ts';
import { onCharm } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentLibrary } from './present.ts';

export const publishLibrary = operation({
  name: 'publish_library',
  method: 'POST',
  path: '/v1/charm/libraries/:charm_name/:library_id',
  since: 0,
  summary: 'Publish a version of a library of a charm.',
  access: onCharm('package-manage-revisions'),
  body: 'PublishLibraryRequest',
  response: 'Library',
  // The content of a library can double in size when it is encoded as JSON.
  bodyLimit: 4 * 1024 * 1024,
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, params, principal, body, acts } = call;
    const { api, patch, hash, content } = body;
    const version = { libraryId: params.library_id, api, patch, hash, content, publishedBy: principal.accountId };
    const published = await acts.do(act, caller(call), { package: subject, ...version });
    return presentLibrary(published);
  },
});
