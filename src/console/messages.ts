// The messages after a form. The address names one of these words, so that a link cannot make a page show any other text.

const sentences = {
  'account-disabled': 'The account is disabled; nobody is let in with it.',
  'account-enabled': 'The account is let in again.',
  'collaborator-gone': 'That account has no part in the package any more.',
  'collaborator-invited': 'The invite waits for an answer.',
  described: 'This is said of it now.',
  'described-as-before': 'Nothing was changed, so nothing has changed.',
  'invite-revoked': 'The invite is taken back.',
  'role-given': 'The role is given, from the next request on.',
  'role-taken': 'The role is taken away, from the next request on.',
  'track-changed': 'The track is changed.',
  'track-deleted': 'The track is deleted.',
  'track-made': 'The track is there. Release something to it, and it has channels.',
  released: 'It is released.',
  'channels-closed': 'Closed. Whoever follows them gets what the safer channel holds.',
  'release-waits': 'It is proposed, and waits for approvals. Nothing has changed yet.',
  'revision-withdrawn': 'The revision is withdrawn. No channel holds it any more.',
  'revision-restored': 'The revision is back. No channel holds it before it is released again.',
  'logged-out': 'You have logged out.',
  'name-changed': 'Others are shown your new name.',
  'one-time-passwords-off': 'You log in with your password alone again.',
  'password-changed': 'Your password is changed.',
  'quota-set': 'What the account may have is set.',
  'token-ended': 'The token has ended.',
  'tokens-ended': 'All tokens of the account have ended.',
  'upload-approved': 'The upload is approved, and is a revision now.',
  'upload-rejected': 'The upload is rejected; its publisher reads your sentence.',
  'upload-there-already': 'You approved it, and it is rejected all the same: what is there already is not added again.',
  'decided-before': 'Somebody was quicker: it was decided before, as this page shows. Nothing was done twice.',
  'proposal-approved': 'You approved of it. It still waits for others.',
  'proposal-approved-by-enough':
    'You approved of it, and that is enough: whoever proposed it does it by doing the same once more.',
  'proposal-rejected': 'It is rejected, and is not done.',
  'proposal-fell': 'Nothing is approved: what it would change was changed otherwise meanwhile.',
  'invite-accepted': 'You collaborate on the package now.',
  'invite-declined': 'You have declined the invite.',
  'offer-taken': 'The package is yours: you publish it from now on.',
  'transfer-accepted': 'The transfer is let in.',
  'transfer-withdrawn': 'The channels hold again what they held before.',
  'transfer-discarded': 'The transfer is thrown away; it may be received again.',
  'transfer-proposed': 'It is proposed, and waits for the approvals below. Do the same once more when they are there.',
  'offer-left': 'The package stays with its publisher.',
} as const;

export type ConsoleMessageKey = keyof typeof sentences;

/** The message of a word; undefined for any other text. */
export const findMessage = (word: string | undefined): string | undefined =>
  word !== undefined && Object.hasOwn(sentences, word) ? sentences[word as ConsoleMessageKey] : undefined;

/** An address of the console that shows a message. */
export const withMessage = (address: string, word: ConsoleMessageKey): string =>
  `${address}${address.includes('?') ? '&' : '?'}done=${word}`;
