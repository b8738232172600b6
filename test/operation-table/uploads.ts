// Rows of the operations about uploads.
import type { OperationRows } from './row.ts';
import { makeScannedUpload, once, request } from './writes.ts';

export const uploadsRows: OperationRows = {
  list_waiting_uploads: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/uploads' }],
  },
  approve_upload: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `/internal/v1/uploads/${await makeScannedUpload(world, n, 'let-in')}/approve`),
    ),
  },
  reject_upload: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `/internal/v1/uploads/${await makeScannedUpload(world, n, 'kept-out')}/reject`, {
        reason: 'No.',
      }),
    ),
  },
  upload_blob: {
    about: 'public',
    callers: 'anyone',
    writes: 'what is sent twice is two uploads; killed in test/journeys/crash.long.test.ts',
  },
};
