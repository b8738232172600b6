// All acts of the store by noun, for the documents and the tests.
import type { Act } from './act.ts';
import { updateAccount, updateOwnAccount } from './account-details.ts';
import { changeRole, createAccount, disableAccount, enableAccount } from './accounts.ts';
import { registerAgent, removeAgent } from './agents.ts';
import {
  acceptAudit,
  acceptBucket,
  failBackup,
  rollBackUpgrade,
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
import { storeKeyRequest, storeImportedAssertions, storeSignedAssertion } from './assertions.ts';
import { createBrand, deleteBrand, updateBrand } from './brands.ts';
import { addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow } from './builds.ts';
import { storeCharmData } from './charm-texts.ts';
import { createLibrary, publishLibrary } from './charm-libraries.ts';
import { acceptClock, recordLatestTime } from './clock.ts';
import { acceptInvite, sweepInvites, inviteCollaborators, rejectInvite, revokeInvites } from './collaborators.ts';
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
  sweepPullCredentials,
  issuePushCredential,
  issuePullCredential,
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
import {
  markBlobRepaired,
  recordRecordsCheck,
  returnBlobToService,
  quarantineBlob,
  restoreMissing,
} from './integrity.ts';
import { logIn, delayLogins } from './logins.ts';
import { holdFollowUp, refuseFollowUp } from './after-review.ts';
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
import { approveProposal, changeApprovalPolicy, sweepProposals, propose, rejectProposal } from './proposals.ts';
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
import { storeSerial, revokeSerial } from './serials.ts';
import { createSigningKey, deleteSigningKey, importSigningKey, requestRegistration } from './signing-keys.ts';
import { rememberSiteKey } from './site-key.ts';
import { makeDischargerKey, retireKeys, rotateRootKey } from './token-keys.ts';
import {
  beginBrowserSession,
  endTokens,
  exchangeCredential,
  exchangeLogin,
  sweepSessions,
  issueToken,
  revokeOwnToken,
  revokeToken,
  rotateToken,
} from './tokens.ts';
import { markTransferLost } from './lost-transfers.ts';
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
import { sweepImageBlobs, sweepImages, readImageIndexes, readImageResources } from './unwanted-images.ts';
import { subscribe, unsubscribe } from './subscriptions.ts';
import { acceptTransfer } from './transfer-accept.ts';
import {
  discardTransfer,
  exportReceipt,
  makeTransfer,
  rewriteTransferPart,
  receiveTransfer,
  withdrawTransfer,
} from './transfers.ts';
import { pushResource, pushRevision } from './uploads.ts';

/** By noun, as the documents show them. */
export const actsByNoun: Readonly<Record<string, readonly Act<never, unknown>[]>> = {
  Accounts: [changeRole, createAccount, disableAccount, enableAccount, updateAccount, updateOwnAccount],
  'After review': [holdFollowUp, refuseFollowUp],
  Agents: [registerAgent, removeAgent],
  Assertions: [storeKeyRequest, postValidationSet, signBuild, storeImportedAssertions, storeSignedAssertion],
  Brands: [createBrand, deleteBrand, updateBrand],
  Builds: [addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow],
  'Charm libraries': [createLibrary, publishLibrary],
  'Grants to devices': [grantToDevices, revokeFromDevices],
  Exports: [exportAudit],
  'The clock': [acceptClock, recordLatestTime],
  Collaborators: [acceptInvite, sweepInvites, inviteCollaborators, rejectInvite, revokeInvites],
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
    sweepPullCredentials,
    issuePushCredential,
    issuePullCredential,
    makeRegistryKey,
    useImageCredential,
  ],
  Images: [deleteImageBlob, deleteImageManifest, deleteImageTag, pushExternalImage, pushImageBlob, pushImageManifest],
  'Images that nobody wants': [sweepImageBlobs, sweepImages, readImageIndexes, readImageResources],
  Imports: [importPackage],
  Integrity: [markBlobRepaired, recordRecordsCheck, returnBlobToService, quarantineBlob, restoreMissing],
  Logins: [logIn, delayLogins],
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
  'Proposals and approvals': [propose, approveProposal, rejectProposal, sweepProposals, changeApprovalPolicy],
  Quotas: [setQuota],
  Releases: [expireBranches, pushReleases],
  'Remodel allowlist': [addRemodels, deleteRemodels, updateRemodels],
  Requests: [makeRequest, noteReceipts],
  Resources: [updateResourceRevisions],
  Reviews: [approveUpload, rejectUpload, scanUpload],
  Revisions: [storeCharmData, deleteRevisions, expireRevisions, restoreRevision, withdrawRevision],
  'Revision signatures': [needsNoAssertion, signRevision],
  'Serial policies': [createSerialPolicy, deleteSerialPolicy],
  Serials: [storeSerial, revokeSerial],
  'Signing keys': [createSigningKey, importSigningKey, deleteSigningKey, requestRegistration],
  'The site key': [rememberSiteKey],
  'The keys behind tokens': [makeDischargerKey, retireKeys, rotateRootKey],
  Tokens: [
    beginBrowserSession,
    endTokens,
    exchangeCredential,
    exchangeLogin,
    sweepSessions,
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
    exportReceipt,
    markTransferLost,
    makeTransfer,
    rewriteTransferPart,
    receiveTransfer,
    withdrawTransfer,
  ],
  Uploads: [pushResource, pushRevision],
  'The appliance': [
    acceptAudit,
    acceptBucket,
    failBackup,
    rollBackUpgrade,
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
