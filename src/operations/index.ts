// Every operation of the store.
import type { Operation } from '#api/operation.ts';
import { packageAccess } from './access/package-access.ts';
import { packagePermissions } from './access/package-permissions.ts';
import { healthz, readyz, statusCheck } from './appliance/health.ts';
import { uploadBlob } from './appliance/upload-blob.ts';
import { readBrand } from './brands/read-brand.ts';
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
import { imageManifest, listImageTags, putImageManifest } from './registry/manifests.ts';
import { registryToken, registryVersion } from './registry/token.ts';
import { createTracks } from './releases/create-tracks.ts';
import { listReleases } from './releases/list-releases.ts';
import { pushReleases } from './releases/push-releases.ts';
import { listResourceRevisions } from './resources/list-resource-revisions.ts';
import { listResources } from './resources/list-resources.ts';
import { ociImageResourceBlob } from './resources/oci-image-resource-blob.ts';
import { ociImageResourceUploadCredentials } from './resources/oci-image-resource-upload-credentials.ts';
import { pushResource } from './resources/push-resource.ts';
import { updateResourceRevisions } from './resources/update-resource-revisions.ts';
import { listRevisions } from './revisions/list-revisions.ts';
import { listUploadReviews } from './revisions/list-upload-reviews.ts';
import { pushRevision } from './revisions/push-revision.ts';
import { root } from './service/root.ts';
import { createSigningKey } from './signing-keys/create-signing-key.ts';
import { readSigningKeyAccountKeyRequest } from './signing-keys/read-signing-key-account-key-request.ts';
import { readSigningKeys } from './signing-keys/read-signing-keys.ts';
import { dashboardAcl } from './tokens/dashboard-acl.ts';
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
  createSigningKey,
  readSigningKeys,
  readSigningKeyAccountKeyRequest,
];

/** The image registry. */
const imageRegistry = [
  registryVersion,
  registryToken,
  startBlobUpload,
  blobUploadState,
  continueBlobUpload,
  finishBlobUpload,
  cancelBlobUpload,
  imageBlob,
  imageManifest,
  putImageManifest,
  listImageTags,
];

/** What clients need beside the interface. */
const besideIt = [
  issueUssoMacaroon,
  exchangeUssoMacaroons,
  exchangeDashboardMacaroons,
  dashboardAcl,
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
  addBuildset,
  updateBuild,
  addCommitWorkflow,
  updateCommitWorkflow,
  packageIcon,
  healthz,
  readyz,
  statusCheck,
];

export const operations: Operation[] = [...publisherInterface, ...imageRegistry, ...besideIt];
