// Every operation of the store.
import type { Operation } from '#api/operation.ts';
import { disableAccount } from './accounts/disable-account.ts';
import { enableAccount } from './accounts/enable-account.ts';
import { endTokens } from './accounts/end-tokens.ts';
import { listTokens } from './accounts/list-tokens.ts';
import { revokeToken } from './accounts/revoke-token.ts';
import { packageAccess } from './access/package-access.ts';
import { packagePermissions } from './access/package-permissions.ts';
import { caCertificate } from './appliance/ca-certificate.ts';
import { documentsHome, documentsPage, openapiDocument } from './appliance/documents.ts';
import { healthz, readyz, statusCheck } from './appliance/health.ts';
import { metrics } from './appliance/metrics.ts';
import { uploadBlob } from './appliance/upload-blob.ts';
import { dashboardAccountKey } from './assertions/dashboard-account-key.ts';
import { importBrandAssertions } from './assertions/import-assertions.ts';
import { deleteBrand } from './brands/delete-brand.ts';
import { readBrand } from './brands/read-brand.ts';
import { updateBrand } from './brands/update-brand.ts';
import { deviceRequestId, deviceRequestIdOfOld } from './device-service/device-request-id.ts';
import { deviceSerial, deviceSerialOfOld } from './device-service/device-serial.ts';
import { createModel } from './models/create-model.ts';
import { deleteModel } from './models/delete-model.ts';
import { readModels } from './models/read-models.ts';
import { updateModel } from './models/update-model.ts';
import { addBuildset } from './builds/add-buildset.ts';
import { addCommitWorkflow } from './builds/add-commit-workflow.ts';
import { buildsetStatus } from './builds/buildset-status.ts';
import { filterCommitWorkflows } from './builds/filter-commit-workflows.ts';
import { updateBuild } from './builds/update-build.ts';
import { updateCommitWorkflow } from './builds/update-commit-workflow.ts';
import { acceptInvite } from './collaborators/accept-invite.ts';
import { getAllInvites } from './collaborators/get-all-invites.ts';
import { getCollaborators } from './collaborators/get-collaborators.ts';
import { getPendingInvites } from './collaborators/get-pending-invites.ts';
import { inviteCollaborators } from './collaborators/invite-collaborators.ts';
import { rejectInvite } from './collaborators/reject-invite.ts';
import { revokeInvites } from './collaborators/revoke-invites.ts';
import { bulkLibraries } from './libraries/bulk-libraries.ts';
import { createLibrary } from './libraries/create-library.ts';
import { publishLibrary } from './libraries/publish-library.ts';
import { readLibrary } from './libraries/read-library.ts';
import { dashboardAccount } from './names/dashboard-account.ts';
import { dashboardRegisterName } from './names/dashboard-register-name.ts';
import { listRegisteredNames } from './names/list-registered-names.ts';
import { packageIcon } from './names/package-icon.ts';
import { packageMetadata } from './names/package-metadata.ts';
import { registerName } from './names/register-name.ts';
import { unregisterPackage } from './names/unregister-package.ts';
import { updatePackageMetadata } from './names/update-package-metadata.ts';
import {
  blobUploadState,
  cancelBlobUpload,
  continueBlobUpload,
  finishBlobUpload,
  startBlobUpload,
} from './registry/blob-uploads.ts';
import { imageBlob } from './registry/blob.ts';
import { deleteImageBlob, deleteImageManifest } from './registry/deletions.ts';
import { registryEvents } from './registry/events.ts';
import { imageManifest, listImageTags, putImageManifest } from './registry/manifests.ts';
import { listImageReferrers } from './registry/referrers.ts';
import { registryToken, registryVersion } from './registry/token.ts';
import { createTracks } from './releases/create-tracks.ts';
import { listReleases } from './releases/list-releases.ts';
import { pushReleases } from './releases/push-releases.ts';
import { addRemodelAllowlist } from './remodel-allowlist/add-remodel-allowlist.ts';
import { deleteRemodelAllowlist } from './remodel-allowlist/delete-remodel-allowlist.ts';
import { listRemodelAllowlist } from './remodel-allowlist/list-remodel-allowlist.ts';
import { updateRemodelAllowlist } from './remodel-allowlist/update-remodel-allowlist.ts';
import { listResourceRevisions } from './resources/list-resource-revisions.ts';
import { listResources } from './resources/list-resources.ts';
import { ociImageResourceBlob } from './resources/oci-image-resource-blob.ts';
import { ociImageResourceUploadCredentials } from './resources/oci-image-resource-upload-credentials.ts';
import { pushResource } from './resources/push-resource.ts';
import { updateResourceRevisions } from './resources/update-resource-revisions.ts';
import { listRevisions } from './revisions/list-revisions.ts';
import { listUploadReviews } from './revisions/list-upload-reviews.ts';
import { pushRevision } from './revisions/push-revision.ts';
import { listSerialLogOfSerial } from './serial-log/list-serial-log-of-serial.ts';
import { listSerialLog } from './serial-log/list-serial-log.ts';
import { createSerialPolicy } from './serial-policies/create-serial-policy.ts';
import { deleteSerialPolicy } from './serial-policies/delete-serial-policy.ts';
import { readSerialPolicies } from './serial-policies/read-serial-policies.ts';
import { root } from './service/root.ts';
import { createSigningKey } from './signing-keys/create-signing-key.ts';
import { deleteSigningKey } from './signing-keys/delete-signing-key.ts';
import { readSigningKeyAccountKeyRequest } from './signing-keys/read-signing-key-account-key-request.ts';
import { readSigningKeys } from './signing-keys/read-signing-keys.ts';
import { dashboardAcl } from './tokens/dashboard-acl.ts';
import { dashboardWhoami } from './tokens/dashboard-whoami.ts';
import { dischargeSsoToken, refreshSsoToken } from './tokens/discharge-sso-token.ts';
import { exchangeMacaroons } from './tokens/exchange-macaroons.ts';
import { exchangeDashboardMacaroons, exchangeUssoMacaroons } from './tokens/exchange-usso-macaroons.ts';
import { getMacaroon } from './tokens/get-macaroon.ts';
import { issueMacaroon } from './tokens/issue-macaroon.ts';
import { issueUssoMacaroon } from './tokens/issue-usso-macaroon.ts';
import { macaroonInfo } from './tokens/macaroon-info.ts';
import { offlineExchangeMacaroon } from './tokens/offline-exchange-macaroon.ts';
import { revokeMacaroon } from './tokens/revoke-macaroon.ts';

/** The interface's operations, by its sections. */
const publisherInterface = [
  root,
  getMacaroon,
  issueMacaroon,
  exchangeMacaroons,
  offlineExchangeMacaroon,
  revokeMacaroon,
  macaroonInfo,
  listRegisteredNames,
  registerName,
  packageMetadata,
  updatePackageMetadata,
  unregisterPackage,
  listRevisions,
  pushRevision,
  listUploadReviews,
  listResources,
  listResourceRevisions,
  pushResource,
  updateResourceRevisions,
  ociImageResourceUploadCredentials,
  ociImageResourceBlob,
  listReleases,
  inviteCollaborators,
  revokeInvites,
  acceptInvite,
  rejectInvite,
  getAllInvites,
  getPendingInvites,
  getCollaborators,
  buildsetStatus,
  filterCommitWorkflows,
  packageAccess,
  packagePermissions,
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
  deleteRemodelAllowlist,
  updateRemodelAllowlist,
];

/** The image registry. */
const imageRegistry = [
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
];

/** What clients need beside the interface. */
const besideIt = [
  issueUssoMacaroon,
  exchangeUssoMacaroons,
  exchangeDashboardMacaroons,
  dashboardAcl,
  dashboardWhoami,
  dischargeSsoToken,
  refreshSsoToken,
  uploadBlob,
  pushReleases,
  createTracks,
  createLibrary,
  publishLibrary,
  readLibrary,
  bulkLibraries,
  dashboardRegisterName,
  dashboardAccount,
  dashboardAccountKey,
  addBuildset,
  updateBuild,
  addCommitWorkflow,
  updateCommitWorkflow,
  packageIcon,
  caCertificate,
  metrics,
  openapiDocument,
  documentsHome,
  documentsPage,
  healthz,
  readyz,
  statusCheck,
];

/** What brands need beside the interface. */
const forBrands = [
  deleteSigningKey,
  listRemodelAllowlist,
  addRemodelAllowlist,
  readSerialPolicies,
  createSerialPolicy,
  deleteSerialPolicy,
  importBrandAssertions,
  listSerialLog,
  listSerialLogOfSerial,
];

/** What administrators of the store need, who sit elsewhere than at its host. */
const forAdministrators = [listTokens, revokeToken, endTokens, disableAccount, enableAccount];

/** What devices need. */
const forDevices = [deviceRequestId, deviceRequestIdOfOld, deviceSerial, deviceSerialOfOld];

export const operations: Operation[] = [
  ...publisherInterface,
  ...imageRegistry,
  ...besideIt,
  ...forBrands,
  ...forAdministrators,
  ...forDevices,
];
