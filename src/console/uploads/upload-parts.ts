// The name and status of an upload on pages.
import type { Html } from '#http/pages/html.ts';
import type { UploadStatus } from '#domain/uploads/upload-status.ts';
import { badge, type Gravity } from '../parts/notice.ts';

export const addressOfUpload = (id: string): string => `/console/waiting/uploads/${encodeURIComponent(id)}`;

/** The package, and the resource that was pushed. */
export const nameOf = ({ namespace, name, resource }: { namespace: string; name: string; resource: string | null }) =>
  `${namespace}/${name}${resource === null ? '' : `, resource ${resource}`}`;

const states: Readonly<Record<UploadStatus, readonly [Gravity, string]>> = {
  new: ['note', 'under review'],
  scanned: ['note', 'waits for a person'],
  approved: ['good', 'approved'],
  rejected: ['warn', 'rejected'],
};

export const uploadBadge = (status: UploadStatus): Html => badge(...states[status]);
