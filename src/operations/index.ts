// Lists all operations of the store by section.
import type { Operation, OperationSection } from '#http/operation.ts';
import { accountHoldings } from './accounts/account-holdings.ts';
import { changeRole } from './accounts/change-role.ts';
import { disableAccount } from './accounts/disable-account.ts';
import { enableAccount } from './accounts/enable-account.ts';
import { endTokens } from './tokens/end-tokens.ts';
import { listTokens } from './tokens/list-tokens.ts';
import { readQuota } from './accounts/read-quota.ts';
import { revokeToken } from './tokens/revoke-token.ts';
import { updateAccount } from './accounts/update-account.ts';
import { updateOwnAccount } from './accounts/update-own-account.ts';
import { setQuota } from './accounts/set-quota.ts';
import { explainAccess } from './packages/explain-access.ts';
import { packageAccess } from './packages/package-access.ts';
import { packagePermissions } from './packages/package-permissions.ts';
import { caCertificate } from './store/ca-certificate.ts';
import {
  documentsRedirect,
  documentsHome,
  documentsPage,
  favicon,
  openapiDocument,
  searchDocuments,
} from './store/documents.ts';
import { healthz, readyz, servingState, statusCheck } from './store/health.ts';
import { metrics } from './store/metrics.ts';
import { uploadBlob } from './uploads/upload-blob.ts';
import { dashboardAccountKey } from './assertions/dashboard-account-key.ts';
import { importBrandAssertions } from './assertions/import-assertions.ts';
import { deleteBrand } from './brands/delete-brand.ts';
import { readBrand } from './brands/read-brand.ts';
import { updateBrand } from './brands/update-brand.ts';
import { charmInfo } from './charms/charm-info.ts';
import { charmResourceRevisions } from './charms/charm-resource-revisions.ts';
import { downloadCharm } from './charms/download-charm.ts';
import { downloadCharmResource } from './charms/download-charm-resource.ts';
import { findCharms } from './charms/find-charms.ts';
import { refreshCharms } from './charms/refresh-charms.ts';
import { createCohorts } from './devices/create-cohorts.ts';
import { deviceMessages } from './devices/device-messages.ts';
import { downloadSnap } from './devices/download-snap.ts';
import { findSnaps } from './devices/find-snaps.ts';
import { refreshSnaps } from './devices/refresh-snaps.ts';
import { snapInfo } from './devices/snap-info.ts';
import { snapNames } from './devices/snap-names.ts';
import { snapCategories, snapSections } from './devices/snap-sections.ts';
import { deviceRequestId, deviceRequestIdOfOld } from './devices/service/device-request-id.ts';
import { deviceSerial, deviceSerialOfOld } from './devices/service/device-serial.ts';
import { approveProposal, rejectProposal } from './approvals/decide-proposal.ts';
import { listProposals } from './approvals/list-proposals.ts';
import { readProposal } from './approvals/read-proposal.ts';
import { readProposalText } from './approvals/read-proposal-text.ts';
import { grantToDevices } from './devices/grants/grant-to-devices.ts';
import { createFleet } from './fleets/create-fleet.ts';
import { deleteFleet } from './fleets/delete-fleet.ts';
import { explainFleets } from './fleets/explain-fleets.ts';
import { listFleetDevices } from './fleets/list-fleet-devices.ts';
import { listFleets } from './fleets/list-fleets.ts';
import { readFleet } from './fleets/read-fleet.ts';
import { setFleetChannel } from './fleets/set-fleet-channel.ts';
import { setFleetVisibility } from './fleets/set-fleet-visibility.ts';
import { setFleetWindow } from './fleets/set-fleet-window.ts';
import { updateFleetDevices } from './fleets/update-fleet-devices.ts';
import { listSeenDevices } from './fleets/list-seen-devices.ts';
import { readSeenDevice } from './fleets/read-seen-device.ts';
import { readDeviceDays } from './fleets/read-device-days.ts';
import { readPackageUsage } from './packages/read-package-usage.ts';
import { listDeviceGrants } from './devices/grants/list-device-grants.ts';
import { revokeFromDevices } from './devices/grants/revoke-from-devices.ts';
import { deviceNonce } from './devices/sessions/device-nonce.ts';
import { deviceSession } from './devices/sessions/device-session.ts';
import { readAssertion } from './assertions/read-assertion.ts';
import { storeAssertions } from './assertions/store-assertions.ts';
import { createModel } from './brands/models/create-model.ts';
import { deleteModel } from './brands/models/delete-model.ts';
import { readModels } from './brands/models/read-models.ts';
import { updateModel } from './brands/models/update-model.ts';
import { addBuildset } from './builds/add-buildset.ts';
import { addCommitWorkflow } from './builds/add-commit-workflow.ts';
import { buildsetStatus } from './builds/buildset-status.ts';
import { filterCommitWorkflows } from './builds/filter-commit-workflows.ts';
import { updateBuild } from './builds/update-build.ts';
import { updateCommitWorkflow } from './builds/update-commit-workflow.ts';
import { acceptInvite } from './packages/collaborators/accept-invite.ts';
import { getAllInvites } from './packages/collaborators/get-all-invites.ts';
import { getCollaborators } from './packages/collaborators/get-collaborators.ts';
import { getPendingInvites } from './packages/collaborators/get-pending-invites.ts';
import { inviteCollaborators } from './packages/collaborators/invite-collaborators.ts';
import { rejectInvite } from './packages/collaborators/reject-invite.ts';
import { revokeInvites } from './packages/collaborators/revoke-invites.ts';
import { bulkLibraries } from './libraries/bulk-libraries.ts';
import { createLibrary } from './libraries/create-library.ts';
import { publishLibrary } from './libraries/publish-library.ts';
import { readLibrary } from './libraries/read-library.ts';
import { dashboardChannelMap } from './dashboard/channel-map.ts';
import {
  dashboardBinaryMetadata,
  dashboardForceBinaryMetadata,
  dashboardReadBinaryMetadata,
} from './dashboard/binary-metadata.ts';
import { dashboardBuilds } from './dashboard/builds.ts';
import { dashboardClose } from './dashboard/close.ts';
import { dashboardForceMetadata, dashboardMetadata } from './dashboard/metadata.ts';
import {
  dashboardBuildConfdbSchema,
  dashboardListConfdbSchemas,
  dashboardPostConfdbSchema,
  dashboardReadConfdbSchema,
} from './dashboard/confdb-schemas.ts';
import { dashboardMetrics } from './dashboard/metrics.ts';
import { dashboardReleases } from './dashboard/releases.ts';
import { dashboardSnapRelease } from './dashboard/snap-release.ts';
import { dashboardSnapPush } from './dashboard/snap-push.ts';
import { dashboardState } from './dashboard/state.ts';
import { dashboardUploadStatus } from './dashboard/upload-status.ts';
import {
  dashboardBuildValidationSet,
  dashboardListValidationSets,
  dashboardPostValidationSet,
  dashboardReadValidationSet,
} from './dashboard/validation-sets.ts';
import { dashboardAccount } from './packages/dashboard-account.ts';
import { dashboardRegisterName } from './packages/dashboard-register-name.ts';
import { listRegisteredNames } from './packages/list-registered-names.ts';
import { packageIcon } from './packages/package-icon.ts';
import { packageMetadata } from './packages/package-metadata.ts';
import { registerName } from './packages/register-name.ts';
import { unregisterPackage } from './packages/unregister-package.ts';
import { updatePackageMetadata } from './packages/update-package-metadata.ts';
import { answerOwnInvite, listOwnInvites } from './packages/collaborators/own-invites.ts';
import { answerPackageOffer } from './packages/ownership/answer-package-offer.ts';
import { handOverPackage } from './packages/ownership/hand-over-package.ts';
import { leavePackage } from './packages/ownership/leave-package.ts';
import { listPackageOffers } from './packages/ownership/list-package-offers.ts';
import { offerPackage } from './packages/ownership/offer-package.ts';
import { removeCollaborator } from './packages/ownership/remove-collaborator.ts';
import { withdrawPackageOffer } from './packages/ownership/withdraw-package-offer.ts';
import {
  blobUploadState,
  cancelBlobUpload,
  continueBlobUpload,
  finishBlobUpload,
  startBlobUpload,
} from './registry/blob-uploads.ts';
import { endPullCredential, listPullCredentials } from './registry/pull-credentials.ts';
import { imageBlob } from './registry/blob.ts';
import { deleteImageBlob, deleteImageManifest } from './registry/deletions.ts';
import { registryEvents } from './registry/events.ts';
import { imageManifest, listImageTags, putImageManifest } from './registry/manifests.ts';
import { listImageReferrers } from './registry/referrers.ts';
import { registryToken, registryVersion } from './registry/token.ts';
import { createTracks } from './releases/create-tracks.ts';
import { deleteTrack } from './releases/delete-track.ts';
import { updateTrack } from './releases/update-track.ts';
import { addGuardrail } from './releases/guardrails/add-guardrail.ts';
import { listGuardrails } from './releases/guardrails/list-guardrails.ts';
import { removeGuardrail } from './releases/guardrails/remove-guardrail.ts';
import { listReleases } from './releases/list-releases.ts';
import { pushReleases } from './releases/push-releases.ts';
import { listRollouts } from './releases/rollouts/list-rollouts.ts';
import { pauseRollout } from './releases/rollouts/pause-rollout.ts';
import { readRollout } from './releases/rollouts/read-rollout.ts';
import { resumeRollout } from './releases/rollouts/resume-rollout.ts';
import { rollBackRollout } from './releases/rollouts/roll-back-rollout.ts';
import { addRemodelAllowlist } from './brands/remodel-allowlist/add-remodel-allowlist.ts';
import { deleteRemodelAllowlist } from './brands/remodel-allowlist/delete-remodel-allowlist.ts';
import { listRemodelAllowlist } from './brands/remodel-allowlist/list-remodel-allowlist.ts';
import { updateRemodelAllowlist } from './brands/remodel-allowlist/update-remodel-allowlist.ts';
import { listResourceRevisions } from './resources/list-resource-revisions.ts';
import { listResources } from './resources/list-resources.ts';
import { ociImageResourceBlob } from './resources/oci-image-resource-blob.ts';
import { ociImageResourceUploadCredentials } from './resources/oci-image-resource-upload-credentials.ts';
import { pushResource } from './resources/push-resource.ts';
import { updateResourceRevisions } from './resources/update-resource-revisions.ts';
import { deleteRevisions } from './revisions/delete-revisions.ts';
import { listKeptRevisions } from './revisions/list-kept-revisions.ts';
import { listRevisions } from './revisions/list-revisions.ts';
import { listUploadReviews } from './revisions/list-upload-reviews.ts';
import { pushRevision } from './revisions/push-revision.ts';
import { restoreRevision } from './revisions/restore-revision.ts';
import { withdrawRevision } from './revisions/withdraw-revision.ts';
import { revokeSerial } from './devices/serial-log/revoke-serial.ts';
import { listSerialLogOfSerial } from './devices/serial-log/list-serial-log-of-serial.ts';
import { listSerialLog } from './devices/serial-log/list-serial-log.ts';
import { createSerialPolicy } from './brands/serial-policies/create-serial-policy.ts';
import { deleteSerialPolicy } from './brands/serial-policies/delete-serial-policy.ts';
import { readSerialPolicies } from './brands/serial-policies/read-serial-policies.ts';
import { root } from './store/root.ts';
import { securityTxt } from './store/security-txt.ts';
import { createSigningKey } from './keys/create-signing-key.ts';
import { deleteSigningKey } from './keys/delete-signing-key.ts';
import { readSigningKeyAccountKeyRequest } from './keys/read-signing-key-account-key-request.ts';
import { readSigningKeys } from './keys/read-signing-keys.ts';
import { dashboardAcl } from './login/dashboard-acl.ts';
import { dashboardWhoami } from './tokens/dashboard-whoami.ts';
import { dischargeSsoToken, refreshSsoToken } from './login/discharge-sso-token.ts';
import { exchangeMacaroons } from './tokens/exchange-macaroons.ts';
import { exchangeDashboardMacaroons, exchangeUssoMacaroons } from './tokens/exchange-usso-macaroons.ts';
import { getMacaroon } from './tokens/get-macaroon.ts';
import { issueMacaroon } from './tokens/issue-macaroon.ts';
import { issueUssoMacaroon } from './tokens/issue-usso-macaroon.ts';
import { macaroonInfo } from './tokens/macaroon-info.ts';
import { offlineExchangeMacaroon } from './tokens/offline-exchange-macaroon.ts';
import { revokeMacaroon } from './tokens/revoke-macaroon.ts';
import { listAccounts } from './accounts/list-accounts.ts';
import { listAudit } from './audit/list-audit.ts';
import { listBrands } from './brands/list-brands.ts';
import { listExports } from './audit/list-exports.ts';
import { readChanges } from './store/read-changes.ts';
import { listPackages } from './packages/list-packages.ts';
import { listTransfers } from './transfers/list-transfers.ts';
import { acceptTransfer, discardTransfer, readTransfer, withdrawTransfer } from './transfers/settle-transfer.ts';
import { approveUpload, rejectUpload } from './uploads/decide-upload.ts';
import { listWaitingUploads } from './uploads/list-waiting-uploads.ts';
import { readPackage } from './packages/read-package.ts';
import { storageUse } from './store/storage-use.ts';
import { acceptFinding } from './vulnerabilities/accept-finding.ts';
import { listAcceptedFindings } from './vulnerabilities/list-accepted-findings.ts';
import { listFindings } from './vulnerabilities/list-findings.ts';
import { listPackageFindings } from './vulnerabilities/list-package-findings.ts';
import { readImageSbom } from './vulnerabilities/read-image-sbom.ts';
import { withdrawAcceptedFinding } from './vulnerabilities/withdraw-accepted-finding.ts';
import { readRevisionSbom } from './vulnerabilities/read-revision-sbom.ts';

/** The sections, in the order of the documents. */
export const sections: readonly OperationSection[] = [
  {
    title: 'Service',
    about: 'Basic facts about this store.',
    operations: [root],
  },
  {
    title: 'Tokens',
    about: 'Get, exchange, attenuate and revoke tokens.',
    operations: [
      getMacaroon,
      issueMacaroon,
      exchangeMacaroons,
      offlineExchangeMacaroon,
      revokeMacaroon,
      macaroonInfo,
      issueUssoMacaroon,
      exchangeUssoMacaroons,
      exchangeDashboardMacaroons,
      dischargeSsoToken,
      refreshSsoToken,
    ],
  },
  {
    title: 'Accounts',
    about: 'Accounts and their tokens, for store administrators.',
    operations: [
      updateAccount,
      updateOwnAccount,
      accountHoldings,
      readQuota,
      setQuota,
      disableAccount,
      enableAccount,
      endTokens,
      changeRole,
      listTokens,
      revokeToken,
    ],
  },
  {
    title: 'The store',
    about: 'Packages, accounts, uploads and the audit log of the whole store, for store administrators.',
    operations: [
      listPackages,
      readPackage,
      listAccounts,
      listBrands,
      listWaitingUploads,
      approveUpload,
      rejectUpload,
      storageUse,
      listExports,
      listAudit,
      readChanges,
      explainAccess(() => operations),
      listPullCredentials,
      endPullCredential,
    ],
  },
  {
    title: 'Names',
    about: 'Register package names, and edit the metadata of packages.',
    operations: [
      listRegisteredNames,
      registerName,
      packageMetadata,
      updatePackageMetadata,
      unregisterPackage,
      packageIcon,
    ],
  },
  {
    title: 'Revisions',
    about: 'Upload files, push them for review, and manage the resulting revisions.',
    operations: [
      uploadBlob,
      pushRevision,
      listUploadReviews,
      listRevisions,
      listKeptRevisions,
      readRevisionSbom,
      readImageSbom,
      withdrawRevision,
      restoreRevision,
      deleteRevisions,
    ],
  },
  {
    title: 'Vulnerabilities',
    about: 'Known vulnerabilities of revisions, by the feeds in force, and their acceptance.',
    operations: [listPackageFindings, listFindings, acceptFinding, withdrawAcceptedFinding, listAcceptedFindings],
  },
  {
    title: 'Resources',
    about: 'The resources of a charm: files and images.',
    operations: [
      listResources,
      listResourceRevisions,
      pushResource,
      updateResourceRevisions,
      ociImageResourceUploadCredentials,
      ociImageResourceBlob,
    ],
  },
  {
    title: 'Releases',
    about: 'Release revisions to channels, and manage tracks.',
    operations: [
      listReleases,
      pushReleases,
      listRollouts,
      readRollout,
      pauseRollout,
      resumeRollout,
      rollBackRollout,
      createTracks,
      updateTrack,
      deleteTrack,
      listGuardrails,
      addGuardrail,
      removeGuardrail,
    ],
  },
  {
    title: 'Approvals',
    about:
      'Proposals: releases, transfers and other changes that the approval policy holds until other people approve them.',
    operations: [listProposals, readProposal, readProposalText, approveProposal, rejectProposal],
  },
  {
    title: 'Transfers',
    about: 'Transfers received from other sites: preview, accept, roll back or discard them.',
    operations: [listTransfers, readTransfer, acceptTransfer, withdrawTransfer, discardTransfer],
  },
  {
    title: 'Collaborators',
    about: 'Invite accounts to collaborate on a package, and offer it to another publisher.',
    operations: [
      inviteCollaborators,
      revokeInvites,
      acceptInvite,
      rejectInvite,
      getAllInvites,
      getPendingInvites,
      getCollaborators,
      removeCollaborator,
      leavePackage,
      offerPackage,
      withdrawPackageOffer,
      listOwnInvites,
      answerOwnInvite,
      answerPackageOffer,
      listPackageOffers,
      handOverPackage,
    ],
  },
  {
    title: 'Charm libraries',
    about: 'Code that charms share.',
    operations: [createLibrary, publishLibrary, readLibrary, bulkLibraries],
  },
  {
    title: 'Builds',
    about: 'The state of builds, reported by build hosts and read by publishers.',
    operations: [
      buildsetStatus,
      filterCommitWorkflows,
      addBuildset,
      updateBuild,
      addCommitWorkflow,
      updateCommitWorkflow,
    ],
  },
  {
    title: 'Package access',
    about: 'Access rights of accounts, for device gateways and other machines of the site.',
    operations: [packageAccess, packagePermissions],
  },
  {
    title: 'Brands',
    about: 'Brands with their models, signing keys, serial policies and remodel allowlists.',
    operations: [
      readBrand,
      updateBrand,
      deleteBrand,
      createModel,
      readModels,
      updateModel,
      deleteModel,
      createSigningKey,
      readSigningKeys,
      readSigningKeyAccountKeyRequest,
      deleteSigningKey,
      listRemodelAllowlist,
      addRemodelAllowlist,
      updateRemodelAllowlist,
      deleteRemodelAllowlist,
      readSerialPolicies,
      createSerialPolicy,
      deleteSerialPolicy,
      importBrandAssertions,
      listSerialLog,
      listSerialLogOfSerial,
      revokeSerial,
    ],
  },
  {
    title: 'Images',
    about: 'The built-in image registry, as in the OCI distribution specification.',
    operations: [
      registryVersion,
      registryToken,
      registryEvents,
      startBlobUpload,
      blobUploadState,
      continueBlobUpload,
      finishBlobUpload,
      cancelBlobUpload,
      imageBlob,
      imageManifest,
      putImageManifest,
      deleteImageManifest,
      deleteImageBlob,
      listImageTags,
      listImageReferrers,
    ],
  },
  {
    title: 'Devices',
    about: 'The interface for snapd: serials, sessions, assertions, refreshes and downloads.',
    operations: [
      deviceRequestId,
      deviceRequestIdOfOld,
      deviceSerial,
      deviceSerialOfOld,
      deviceNonce,
      deviceSession,
      ...readAssertion,
      storeAssertions,
      refreshSnaps,
      snapInfo,
      findSnaps,
      snapNames,
      snapCategories,
      snapSections,
      downloadSnap,
      createCohorts,
      listDeviceGrants,
      listSeenDevices,
      readSeenDevice,
      readDeviceDays,
      readPackageUsage,
      grantToDevices,
      revokeFromDevices,
      listFleets,
      createFleet,
      readFleet,
      deleteFleet,
      listFleetDevices,
      updateFleetDevices,
      setFleetWindow,
      setFleetChannel,
      setFleetVisibility,
      explainFleets,
      deviceMessages,
    ],
  },
  {
    title: 'Charms for juju',
    about: 'The interface for juju: find, deploy and refresh public charms and bundles.',
    operations: [findCharms, charmInfo, refreshCharms, charmResourceRevisions, downloadCharm, downloadCharmResource],
  },
  {
    title: 'Older tools',
    about: 'The interface of the public store that unmodified snapcraft uses.',
    operations: [
      dashboardAcl,
      dashboardWhoami,
      dashboardRegisterName,
      dashboardAccount,
      dashboardAccountKey,
      dashboardSnapPush,
      dashboardUploadStatus,
      dashboardSnapRelease,
      dashboardClose,
      dashboardState,
      dashboardChannelMap,
      dashboardReleases,
      dashboardMetrics,
      dashboardMetadata,
      dashboardForceMetadata,
      dashboardReadBinaryMetadata,
      dashboardBinaryMetadata,
      dashboardForceBinaryMetadata,
      dashboardListValidationSets,
      dashboardReadValidationSet,
      dashboardBuildValidationSet,
      dashboardPostValidationSet,
      dashboardListConfdbSchemas,
      dashboardReadConfdbSchema,
      dashboardBuildConfdbSchema,
      dashboardPostConfdbSchema,
      dashboardBuilds,
    ],
  },
  {
    title: 'The appliance',
    about: 'Health, metrics, documents and the certificate authority of this store.',
    operations: [
      caCertificate,
      metrics,
      openapiDocument,
      documentsHome,
      documentsRedirect,
      documentsPage,
      searchDocuments,
      favicon,
      securityTxt,
      healthz,
      readyz,
      servingState,
      statusCheck,
    ],
  },
];

export const operations: Operation[] = sections.flatMap((section) => section.operations);
