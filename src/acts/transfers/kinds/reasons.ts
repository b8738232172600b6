// The reasons and notes that several kinds of content report.
export const contradictionReason = 'Its assertion and the transfer contradict each other.';
export const otherContentReason = 'It is stored here with other content, so it cannot be accepted.';
export const sameContentReason = ({ revision }: { revision: number }): string =>
  `The same content is stored here as revision ${String(revision)}.`;
export const unvouchedNote = 'no assertion that this site believes';
