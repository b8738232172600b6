// The messages after a form. The address names one of these words, so that a link cannot make a page show any other text.

const sentences = {
  'account-disabled': 'The account is disabled. The store refuses its password and its tokens.',
  'account-enabled': 'The account is enabled.',
  'collaborator-gone': 'The account no longer collaborates on the package.',
  'collaborator-invited': 'The invite is made and waits for an answer.',
  described: 'The description is changed.',
  'described-as-before': 'No changes were made.',
  'fleet-changed': 'The fleet is changed. Its devices get the difference with their next refresh.',
  'invite-revoked': 'The invite is revoked.',
  'role-given': 'The role is given. It takes effect with the next request.',
  'role-taken': 'The role is removed. This takes effect with the next request.',
  'track-changed': 'The track is changed.',
  'track-deleted': 'The track is deleted.',
  'track-made': 'The track is created. It has channels after the first release to it.',
  released: 'The revision is released.',
  'release-undone': 'The last change is undone. Devices get the earlier revisions at their next refresh.',
  'channels-closed': 'The channels are closed. Devices that follow them get the revision of the next safer channel.',
  'rollout-paused': 'The rollout is paused. No further device gets its revision.',
  'rollout-resumed': 'The rollout continues.',
  'rollout-rolled-back': 'The rollout is rolled back. All devices get the older revision at their next refresh.',
  'rollout-waits':
    'Resuming is proposed and waits for approvals. The rollout stays paused. Resume it again when it is approved.',
  'release-waits': 'The release is proposed and waits for approvals. Nothing has changed yet.',
  'revision-withdrawn': 'The revision is withdrawn. It is no longer in any channel.',
  'revision-restored': 'The revision is restored. It is in no channel until it is released again.',
  'finding-accepted': 'The vulnerability is accepted until the date.',
  'acceptance-withdrawn': 'The acceptance is withdrawn. The vulnerability counts again.',
  'logged-out': 'You have logged out.',
  'name-changed': 'Your display name is changed.',
  'one-time-passwords-off': 'One-time passwords are turned off. You log in with your password only.',
  'password-changed': 'Your password is changed.',
  'quota-set': 'The quota is changed.',
  'devices-granted': 'The snap is granted. The devices find it with their next call.',
  'devices-revoked': 'The grant is revoked. The devices no longer find the snap with their next call.',
  'guardrail-added': 'The pattern is added. Publishers may create tracks that match it.',
  'guardrail-removed': 'The pattern is removed. Existing tracks stay.',
  subscribed: 'The packages are subscribed to. The next request asks for them.',
  unsubscribed: 'The subscription is removed. Received revisions stay.',
  'source-trusted': 'The site is trusted. Its signed transfers can be accepted now.',
  'source-changed': 'The settings of the trust are changed.',
  'source-distrusted': 'The site is no longer trusted. Its transfers are refused.',
  'token-ended': 'The token is revoked.',
  'tokens-ended': 'All tokens of the account are revoked.',
  'upload-approved': 'The upload is approved and has become a revision.',
  'upload-rejected': 'The upload is rejected. Its publisher sees your reason.',
  'upload-there-already': 'You approved the upload, but the store rejected it because its content exists already.',
  'decided-before': 'Another person has already decided this, as the page shows. Your input changed nothing.',
  'proposal-approved': 'You approved the proposal. It waits for more approvals.',
  'proposal-approved-by-enough':
    'You approved the proposal. It has enough approvals now, and the account that proposed it can repeat the change to carry it out.',
  'proposal-rejected': 'The proposal is rejected.',
  'proposal-fell':
    'The proposal is no longer valid, because its object has changed since then. Your approval was not recorded.',
  'invite-accepted': 'You collaborate on the package now.',
  'invite-declined': 'You have declined the invite.',
  'offer-taken': 'You are now the publisher of the package.',
  'transfer-received': 'The transfer is received.',
  'transfer-part-received': 'A part of the transfer is received. Upload the other parts to complete it.',
  'transfer-accepted': 'The transfer is accepted.',
  'transfer-withdrawn': 'The releases are rolled back. The channels have their previous revisions again.',
  'transfer-discarded': 'The transfer is discarded. It can be received again.',
  'transfer-proposed':
    'The change is proposed and waits for the approvals below. When it has them, repeat the same change.',
  'backup-made': 'The backup is made.',
  'backup-unchanged': 'The store has not changed since the last backup, so no other one was made.',
  'backup-lacking': 'The backup is made, but contents of the store are missing or corrupt. This page says which.',
  'backup-running': 'The backup has begun. It continues if you leave this page.',
  'drill-done': 'The newest backup was restored and verified. The copy is removed.',
  'drill-running': 'The drill has begun. It continues if you leave this page.',
  'brand-made': 'The account is a brand. Make a signing key and a model next.',
  'key-made': 'The key is made. Request its registration next.',
  'key-deleted': 'The key is deleted.',
  'key-answer-taken': 'The answer is imported.',
  'model-created': 'The model is created. Choose the key that signs its serials next.',
  'model-changed': 'The model is changed.',
  'model-deleted': 'The model is deleted.',
  'serial-policy-added': 'The policy is added. The key signs the serials of the model from now on.',
  'serial-policy-deleted': 'The policy is deleted. The newest of the others applies.',
  'remodel-permitted': 'The remodel is permitted.',
  'remodel-removed': 'The remodel is no longer permitted.',
  'offer-left': 'The package stays with its publisher.',
} as const;

export type ConsoleMessageKey = keyof typeof sentences;

/** The message of a word; undefined for any other text. */
export const findMessage = (word: string | undefined): string | undefined =>
  word !== undefined && Object.hasOwn(sentences, word) ? sentences[word as ConsoleMessageKey] : undefined;

/** An address of the console that shows a message. */
export const withMessage = (address: string, word: ConsoleMessageKey): string =>
  `${address}${address.includes('?') ? '&' : '?'}done=${word}`;
