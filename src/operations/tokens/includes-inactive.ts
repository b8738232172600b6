/** Whether the query asks for inactive tokens too: any value except `false` counts. */
export const includesInactive = (includeInactive: string | undefined): boolean =>
  includeInactive !== undefined && includeInactive !== 'false';
