// Rows of the operations about libraries.
import type { OperationRows } from './row.ts';
import { must, once, request } from './writes.ts';

export const librariesRows: OperationRows = {
  create_library: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      must(await world.ada.post('/v1/charm', { name: `juggler-${n}` }));
      return request(world.ada, 'POST', `/v1/charm/libraries/juggler-${n}`, { 'library-name': 'greeting' });
    }),
  },
  publish_library: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      must(await world.ada.post('/v1/charm', { name: `reader-${n}` }));
      const path = `/v1/charm/libraries/reader-${n}`;
      const made = must(await world.ada.post(path, { 'library-name': 'greeting' }));
      const version = { api: 0, patch: 1, content: 'LIBAPI = 0', hash: 'a'.repeat(64) };
      return request(world.ada, 'POST', `${path}/${String(made['library-id'])}`, version);
    }),
  },
  read_library: {
    about: 'public',
    callers: 'anyone',
    reads: ({ ids }) => [{ path: `/v1/charm/libraries/juggler/${ids.library}` }],
  },
  bulk_libraries: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
};
