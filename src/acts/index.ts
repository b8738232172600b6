// All acts of the store by noun, for the documents and the tests.
import type { Act } from './act.ts';
import { updateAccount, updateOwnAccount } from './accounts/details.ts';
import { changeRole, createAccount, disableAccount, enableAccount } from './accounts/accounts.ts';
import {
  acceptOpenidLogin,
  addOpenidIdentity,
  createOpenidAccount,
  endOpenidSessions,
  removeOpenidIdentity,
} from './accounts/openid-identities.ts';
import { changeGroupRoles, expireGroupRoles } from './accounts/group-roles.ts';
import { registerAgent, removeAgent } from './accounts/agents.ts';
import {
  acceptAudit,
  acceptBucket,
  failBackup,
  failDrill,
  rollBackUpgrade,
  move,
  init,
  makeBackup,
  recordDrill,
  renewCertificate,
  restore,
  sealMasterKey,
  changeSetting,
  setLogLevel,
  upgrade,
} from './store/appliance.ts';
import { addApproverKey, removeApproverKey } from './approvals/approver-keys.ts';
import { storeKeyRequest, storeImportedAssertions, storeSignedAssertion } from './assertions/assertions.ts';
import { storeBills } from './vulnerabilities/bills-of-materials.ts';
import { acceptFinding, withdrawAcceptedFinding } from './vulnerabilities/accepted-findings.ts';
import { recordFindings } from './vulnerabilities/record-findings.ts';
import { removeLarderRelease } from './store/larder-releases.ts';
import { importFeed, removeFeed } from './vulnerabilities/feeds.ts';
import { createBrand, deleteBrand, updateBrand } from './brands/brands.ts';
import { addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow } from './builds/builds.ts';
import { storeCharmData } from './revisions/charm-data.ts';
import { createLibrary, publishLibrary } from './libraries/libraries.ts';
import { acceptClock, recordLatestTime } from './store/clock.ts';
import {
  acceptInvite,
  sweepInvites,
  inviteCollaborators,
  rejectInvite,
  revokeInvites,
} from './packages/collaborators.ts';
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
} from './accounts/credentials.ts';
import {
  endPullCredential,
  sweepPullCredentials,
  issuePushCredential,
  issuePullCredential,
  makeRegistryKey,
  useImageCredential,
} from './images/credentials.ts';
import {
  deleteImageBlob,
  deleteImageManifest,
  deleteImageTag,
  pushExternalImage,
  pushImageBlob,
  pushImageManifest,
} from './images/images.ts';
import {
  markBlobRepaired,
  recordRecordsCheck,
  returnBlobToService,
  quarantineBlob,
  restoreMissing,
} from './store/integrity.ts';
import { acceptCertificateLogin, endCertificateSession } from './login/certificate-logins.ts';
import { logIn, delayLogins } from './login/logins.ts';
import { holdFollowUp, refuseFollowUp } from './uploads/follow-ups.ts';
import { exportAudit } from './audit/exports.ts';
import { grantToDevices, revokeFromDevices } from './devices/grants.ts';
import { setFleetChannel, setFleetVisibility } from './fleets/fleet-channels.ts';
import { createFleet, deleteFleet, setFleetWindow, updateFleetDevices } from './fleets/fleets.ts';
import { importPackage } from './packages/imports.ts';
import { createModel, deleteModel, updateModel } from './brands/models.ts';
import { updatePackageMetadata } from './packages/metadata.ts';
import {
  acceptPackage,
  handOverPackage,
  leavePackage,
  offerPackage,
  rejectPackage,
  removeCollaborator,
  withdrawOffer,
} from './packages/ownership.ts';
import { postConfdbSchema, postValidationSet, signBuild } from './assertions/publisher-assertions.ts';
import { registerName, setManualReview, setPackageId, unregisterPackage } from './packages/registration.ts';
import {
  approveProposal,
  changeApprovalPolicy,
  sweepProposals,
  propose,
  rejectProposal,
} from './approvals/proposals.ts';
import { setQuota } from './accounts/quotas.ts';
import { expireBranches, pushReleases } from './releases/releases.ts';
import { endRollout, pauseRollout, raiseRollout, resumeRollout, rollBackRollout } from './releases/rollouts.ts';
import { deleteRevisions, expireRevisions } from './revisions/old-revisions.ts';
import { addRemodels, deleteRemodels, updateRemodels } from './brands/remodel-allowlist.ts';
import { makeRequest, noteReceipts } from './sites/requests.ts';
import { updateResourceRevisions } from './resources/resources.ts';
import { approveUpload, rejectUpload, scanUpload } from './uploads/reviews.ts';
import { needsNoAssertion, signRevision } from './revisions/signatures.ts';
import { restoreRevision, withdrawRevision } from './revisions/revisions.ts';
import { createSerialPolicy, deleteSerialPolicy } from './brands/serial-policies.ts';
import { storeSerial, revokeSerial } from './devices/serials.ts';
import { createSigningKey, deleteSigningKey, importSigningKey, requestRegistration } from './keys/signing-keys.ts';
import { rememberSiteKey } from './keys/site-key.ts';
import { makeDischargerKey, retireKeys, rotateRootKey } from './tokens/token-keys.ts';
import {
  beginBrowserSession,
  expireBrowserSession,
  endTokens,
  exchangeCredential,
  exchangeLogin,
  sweepSessions,
  issueToken,
  revokeOwnToken,
  revokeToken,
  rotateToken,
} from './tokens/tokens.ts';
import {
  distrustSource,
  nameSite,
  noteCopiedKey,
  resetFloor,
  rotateSite,
  rotateSource,
  settleFloor,
  trustSource,
} from './sites/sites.ts';
import { addGuardrail, createTracks, deleteTrack, removeGuardrail, updateTrack } from './releases/tracks.ts';
import { sweepImageBlobs, sweepImages, readImageIndexes, readImageResources } from './images/unneeded-images.ts';
import { subscribe, unsubscribe } from './sites/subscriptions.ts';
import { acceptTransfer } from './transfers/accept.ts';
import {
  discardTransfer,
  makeTransfer,
  markTransferLost,
  receiveTransfer,
  rewriteTransferPart,
} from './transfers/transfers.ts';
import { exportReceipt } from './transfers/receipt.ts';
import { withdrawTransfer } from './transfers/withdraw.ts';
import { pushResource, pushRevision } from './uploads/uploads.ts';

/** By noun, as the documents show them. */
export const actsByNoun: Readonly<Record<string, readonly Act<never, unknown>[]>> = {
  Accounts: [changeRole, createAccount, disableAccount, enableAccount, updateAccount, updateOwnAccount],
  'After review': [holdFollowUp, refuseFollowUp],
  'OpenID logins': [
    createOpenidAccount,
    acceptOpenidLogin,
    addOpenidIdentity,
    removeOpenidIdentity,
    changeGroupRoles,
    expireGroupRoles,
    endOpenidSessions,
  ],
  'Certificate logins': [acceptCertificateLogin, endCertificateSession],
  Agents: [registerAgent, removeAgent],
  Assertions: [
    storeKeyRequest,
    postValidationSet,
    postConfdbSchema,
    signBuild,
    storeImportedAssertions,
    storeSignedAssertion,
  ],
  Brands: [createBrand, deleteBrand, updateBrand],
  Builds: [addBuildset, addCommitWorkflow, updateBuild, updateCommitWorkflow],
  'Bills of materials': [storeBills],
  Vulnerabilities: [recordFindings, acceptFinding, withdrawAcceptedFinding],
  'Feeds of advisories': [importFeed, removeFeed],
  'Releases of larder': [removeLarderRelease],
  'Charm libraries': [createLibrary, publishLibrary],
  'Grants to devices': [grantToDevices, revokeFromDevices],
  Exports: [exportAudit],
  Fleets: [createFleet, deleteFleet, setFleetChannel, setFleetVisibility, setFleetWindow, updateFleetDevices],
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
  'Unused images': [sweepImageBlobs, sweepImages, readImageIndexes, readImageResources],
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
  Rollouts: [pauseRollout, raiseRollout, resumeRollout, rollBackRollout, endRollout],
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
    expireBrowserSession,
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
    failDrill,
    rollBackUpgrade,
    move,
    init,
    makeBackup,
    recordDrill,
    renewCertificate,
    restore,
    sealMasterKey,
    changeSetting,
    setLogLevel,
    upgrade,
  ],
};

export const everyAct: readonly Act<never, unknown>[] = Object.values(actsByNoun).flat();
