// The name, status and changes of a proposal on pages.
import type { ProposalStatus } from '#acts/approvals/proposal-status.ts';
import type { Html } from '#http/pages/html.ts';
import { badge, type Gravity } from '../parts/notice.ts';
import { formatCount } from '../parts/values.ts';

export const addressOfProposal = (number: number): string => `/console/waiting/proposals/${String(number)}`;

const gravities: Readonly<Record<ProposalStatus['state'], Gravity>> = {
  waits: 'note',
  approved: 'good',
  done: 'good',
  rejected: 'warn',
  fallen: 'warn',
  expired: 'warn',
};

export const stateBadge = ({ state, missing }: ProposalStatus): Html =>
  badge(gravities[state], state === 'waits' ? `waits for ${formatCount(missing, 'approval')}` : state);
