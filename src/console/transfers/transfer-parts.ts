// The name and status of a transfer on pages.
import type { Html } from '#http/pages/html.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { badge, type Gravity } from '../parts/notice.ts';

export const addressOfTransfer = (id: string): string => `/console/carry/transfers/${encodeURIComponent(id)}`;

const states: Readonly<Record<ReceivedTransfer['status'], readonly [Gravity, string]>> = {
  waiting: ['note', 'waits'],
  accepted: ['good', 'accepted'],
  discarded: ['warn', 'discarded'],
  withdrawn: ['warn', 'rolled back'],
};

export const transferBadge = ({ status }: Pick<ReceivedTransfer, 'status'>): Html => badge(...states[status]);
