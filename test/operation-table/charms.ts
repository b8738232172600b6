// Rows of the operations about charms.
import type { OperationRows } from './row.ts';

export const charmsRows: OperationRows = {
  find_charms: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/v2/charms/find?q=pages' }, { variant: 'all', path: '/v2/charms/find?q=' }],
  },
  charm_info: { about: 'public', callers: 'anyone', reads: () => [{ path: '/v2/charms/info/pages' }] },
  refresh_charms: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  charm_resource_revisions: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/v2/charms/resources/pages/site/revisions' }],
  },
  download_charm: {
    about: 'public',
    callers: 'anyone',
    reads: ({ ids }) => [{ path: `/api/v1/charms/download/${ids.pages}_1.charm` }],
  },
  download_charm_resource: {
    about: 'public',
    callers: 'anyone',
    reads: ({ ids }) => [{ path: `/api/v1/resources/download/charm_${ids.pages}.site_1` }],
  },
};
