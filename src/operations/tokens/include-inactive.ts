/** Whether the query asks for inactive tokens too: it counts when it is present, whatever it says but `false`. */
export const isGiven = (includeInactive: string | undefined): boolean =>
  includeInactive !== undefined && includeInactive !== 'false';
