// The name, status and changes of a proposal on pages.
import type { ProposalState } from '#acts/proposal-state.ts';
import type { Html } from '#api/pages/html.ts';
import { badge, type Gravity } from '../parts/notice.ts';
import { counted } from '../parts/values.ts';

export const addressOfProposal = (number: number): string => `/console/waiting/proposals/${String(number)}`;

const gravities: Readonly<Record<ProposalState['state'], Gravity>> = {
  waits: 'note',
  approved: 'good',
  done: 'good',
  rejected: 'warn',
  fallen: 'warn',
  expired: 'warn',
};

export const stateBadge = ({ state, missing }: ProposalState): Html =>
  badge(gravities[state], state === 'waits' ? `waits for ${counted(missing, 'approval')}` : state);
