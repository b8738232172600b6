// All acts of the store by noun, for the documents and the tests.
import type { Act } from './act.ts';
import { updateAccount, updateOwnAccount } from './account-details.ts';
import { changeRole, createAccount, disableAccount, enableAccount } from './accounts.ts';
import { registerAgent, removeAgent } from './agents.ts';
import {
  acceptAudit,
  acceptBucket,
  failBackup,
  goBack,
  move,
  init,
  makeBackup,
  renewCertificate,
  restore,
  sealMasterKey,
  changeSetting,
  setLogLevel,
  upgrade,
} from './appliance.ts';
import { addApproverKey, removeApproverKey } from './approver-keys.ts';
import { askForRegistration, keepImported, keepSigned } from './assertions.ts';
import { createBrand, deleteBrand, updateBrand } from './brands.ts';
import { addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow } from './builds.ts';
import { readCharm } from './charm-texts.ts';
import { createLibrary, publishLibrary } from './charm-libraries.ts';
import { acceptClock, rememberTime } from './clock.ts';
import { acceptInvite, forgetInvites, inviteCollaborators, rejectInvite, revokeInvites } from './collaborators.ts';
import {
  changeCredential,
  changeOwnPassword,
  inviteAccount,
  rehashPassword,
  setOwnPassword,
  setPassword,
  setTotpSecret,
  renewRecoveryCodes,
  switchOffTotp,
  switchOnTotp,
} from './credentials.ts';
import {
  endPullCredential,
  forgetPullCredentials,
  giveToPush,
  handOutImage,
  makeRegistryKey,
  useImageCredential,
} from './image-credentials.ts';
import {
  deleteImageBlob,
  deleteImageManifest,
  deleteImageTag,
  pushExternalImage,
  pushImageBlob,
  pushImageManifest,
} from './images.ts';
import { mendBlob, proveRecords, putBackBlob, quarantineBlob, restoreMissing } from './integrity.ts';
import { logIn, putOffLogins } from './logins.ts';
import { holdAfterReview, refuseAfterReview } from './after-review.ts';
import { exportAudit } from './exports.ts';
import { grantToDevices, revokeFromDevices } from './device-grants.ts';
import { importPackage } from './imports.ts';
import { createModel, deleteModel, updateModel } from './models.ts';
import { updatePackageMetadata } from './package-metadata.ts';
import {
  acceptPackage,
  handOverPackage,
  leavePackage,
  offerPackage,
  rejectPackage,
  removeCollaborator,
  withdrawOffer,
} from './ownership.ts';
import { postValidationSet, signBuild } from './publisher-assertions.ts';
import { registerName, setManualReview, setPackageId, unregisterPackage } from './packages.ts';
import { approveProposal, changeApprovalPolicy, forgetProposals, propose, rejectProposal } from './proposals.ts';
import { setQuota } from './quotas.ts';
import { expireBranches, pushReleases } from './releases.ts';
import { deleteRevisions, expireRevisions } from './old-revisions.ts';
import { addRemodels, deleteRemodels, updateRemodels } from './remodel-allowlist.ts';
import { makeRequest, noteReceipts } from './requests.ts';
import { updateResourceRevisions } from './resources.ts';
import { approveUpload, rejectUpload, scanUpload } from './reviews.ts';
import { needsNoAssertion, signRevision } from './revision-signatures.ts';
import { restoreRevision, withdrawRevision } from './revisions.ts';
import { createSerialPolicy, deleteSerialPolicy } from './serial-policies.ts';
import { giveSerial, revokeSerial } from './serials.ts';
import { createSigningKey, deleteSigningKey, importSigningKey, requestRegistration } from './signing-keys.ts';
import { rememberSiteKey } from './site-key.ts';
import { makeDischargerKey, retireKeys, rotateRootKey } from './token-keys.ts';
import {
  beginBrowserSession,
  endTokens,
  exchangeCredential,
  exchangeLogin,
  forgetSessions,
  issueToken,
  revokeOwnToken,
  revokeToken,
  rotateToken,
} from './tokens.ts';
import { loseTransfer } from './lost-transfers.ts';
import {
  distrustSource,
  nameSite,
  noteCopiedKey,
  resetFloor,
  rotateSite,
  rotateSource,
  settleFloor,
  trustSource,
} from './sites.ts';
import { addGuardrail, createTracks, deleteTrack, removeGuardrail, updateTrack } from './tracks.ts';
import { forgetImageBlobs, forgetImages, readImageIndexes, readImageResources } from './unwanted-images.ts';
import { subscribe, unsubscribe } from './subscriptions.ts';
import { acceptTransfer } from './transfer-accept.ts';
import {
  discardTransfer,
  letOutReceipt,
  makeTransfer,
  makeTransferAgain,
  receiveTransfer,
  withdrawTransfer,
} from './transfers.ts';
import { pushResource, pushRevision } from './uploads.ts';

/** By noun, as the documents show them. */
export const actsByNoun: Readonly<Record<string, readonly Act<never, unknown>[]>> = {
  Accounts: [changeRole, createAccount, disableAccount, enableAccount, updateAccount, updateOwnAccount],
  'After review': [holdAfterReview, refuseAfterReview],
  Agents: [registerAgent, removeAgent],
  Assertions: [askForRegistration, postValidationSet, signBuild, keepImported, keepSigned],
  Brands: [createBrand, deleteBrand, updateBrand],
  Builds: [addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow],
  'Charm libraries': [createLibrary, publishLibrary],
  'Grants to devices': [grantToDevices, revokeFromDevices],
  Exports: [exportAudit],
  'The clock': [acceptClock, rememberTime],
  Collaborators: [acceptInvite, forgetInvites, inviteCollaborators, rejectInvite, revokeInvites],
  'Credentials of people': [
    addApproverKey,
    changeCredential,
    changeOwnPassword,
    inviteAccount,
    removeApproverKey,
    rehashPassword,
    setOwnPassword,
    setPassword,
    setTotpSecret,
    renewRecoveryCodes,
    switchOffTotp,
    switchOnTotp,
  ],
  'Image credentials': [
    endPullCredential,
    forgetPullCredentials,
    giveToPush,
    handOutImage,
    makeRegistryKey,
    useImageCredential,
  ],
  Images: [deleteImageBlob, deleteImageManifest, deleteImageTag, pushExternalImage, pushImageBlob, pushImageManifest],
  'Images that nobody wants': [forgetImageBlobs, forgetImages, readImageIndexes, readImageResources],
  Imports: [importPackage],
  Integrity: [mendBlob, proveRecords, putBackBlob, quarantineBlob, restoreMissing],
  Logins: [logIn, putOffLogins],
  Models: [createModel, deleteModel, updateModel],
  'Ownership of packages': [
    acceptPackage,
    handOverPackage,
    leavePackage,
    offerPackage,
    rejectPackage,
    removeCollaborator,
    withdrawOffer,
  ],
  Packages: [registerName, setManualReview, setPackageId, unregisterPackage, updatePackageMetadata],
  'Proposals and approvals': [propose, approveProposal, rejectProposal, forgetProposals, changeApprovalPolicy],
  Quotas: [setQuota],
  Releases: [expireBranches, pushReleases],
  'Remodel allowlist': [addRemodels, deleteRemodels, updateRemodels],
  Requests: [makeRequest, noteReceipts],
  Resources: [updateResourceRevisions],
  Reviews: [approveUpload, rejectUpload, scanUpload],
  Revisions: [readCharm, deleteRevisions, expireRevisions, restoreRevision, withdrawRevision],
  'Revision signatures': [needsNoAssertion, signRevision],
  'Serial policies': [createSerialPolicy, deleteSerialPolicy],
  Serials: [giveSerial, revokeSerial],
  'Signing keys': [createSigningKey, importSigningKey, deleteSigningKey, requestRegistration],
  'The site key': [rememberSiteKey],
  'The keys behind tokens': [makeDischargerKey, retireKeys, rotateRootKey],
  Tokens: [
    beginBrowserSession,
    endTokens,
    exchangeCredential,
    exchangeLogin,
    forgetSessions,
    issueToken,
    revokeOwnToken,
    revokeToken,
    rotateToken,
  ],
  Sites: [distrustSource, nameSite, noteCopiedKey, resetFloor, rotateSite, rotateSource, settleFloor, trustSource],
  Subscriptions: [subscribe, unsubscribe],
  Tracks: [addGuardrail, createTracks, deleteTrack, removeGuardrail, updateTrack],
  Transfers: [
    acceptTransfer,
    discardTransfer,
    letOutReceipt,
    loseTransfer,
    makeTransfer,
    makeTransferAgain,
    receiveTransfer,
    withdrawTransfer,
  ],
  Uploads: [pushResource, pushRevision],
  'The appliance': [
    acceptAudit,
    acceptBucket,
    failBackup,
    goBack,
    move,
    init,
    makeBackup,
    renewCertificate,
    restore,
    sealMasterKey,
    changeSetting,
    setLogLevel,
    upgrade,
  ],
};

export const everyAct: readonly Act<never, unknown>[] = Object.values(actsByNoun).flat();
