// Rows of the operations about store.
import type { OperationRows } from './row.ts';

export const storeRows: OperationRows = {
  root: { about: 'public', callers: 'anyone', reads: () => [{ path: '/' }] },
  storage_use: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/storage' }],
  },
  read_changes: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/changes?since=1' }],
  },
  ca_certificate: { about: 'public', callers: 'anyone', reads: () => [{ path: '/ca.pem', status: 404 }] },
  metrics: { about: 'public', callers: 'anyone', reads: () => [{ path: '/metrics' }] },
  openapi_document: { about: 'public', callers: 'anyone', reads: () => [{ path: '/openapi.json' }] },
  documents_home: { about: 'public', callers: 'anyone', reads: () => [{ path: '/docs/' }] },
  documents_door: { about: 'public', callers: 'anyone', reads: () => [{ path: '/docs' }] },
  documents_page: { about: 'public', callers: 'anyone', reads: () => [{ path: '/docs/operations-names' }] },
  search_documents: { about: 'public', callers: 'anyone', reads: () => [{ path: '/docs/search?q=release' }] },
  favicon: { about: 'public', callers: 'anyone', reads: () => [{ path: '/favicon.ico' }] },
  security_txt: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/.well-known/security.txt', status: 404 }],
  },
  healthz: { about: 'public', callers: 'anyone', reads: () => [{ path: '/healthz' }] },
  readyz: { about: 'public', callers: 'anyone', reads: () => [{ path: '/readyz' }] },
  serving_state: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/_status/serving', status: 403 }],
  },
  status_check: { about: 'public', callers: 'anyone', reads: () => [{ path: '/_status/check' }] },
};
