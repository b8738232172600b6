// All pages of the console.
import type { OperationSection } from '#http/operation.ts';
import { isCheckout } from '#platform/embedded.ts';
import { consoleAsset } from './assets.ts';
import { consoleAudit, consoleExportAudit } from './audit/audit.ts';
import { consolePolicy } from './approvals/policy.ts';
import {
  consoleAskRevokeFromDevices,
  consoleDeviceGrants,
  consoleGrantToDevices,
  consoleRevokeFromDevices,
} from './devices/grants.ts';
import {
  consoleAddGuardrail,
  consoleAskRemoveGuardrail,
  consoleGuardrails,
  consoleRemoveGuardrail,
} from './releases/guardrails.ts';
import {
  consoleAskDistrustSource,
  consoleChangeSource,
  consoleDistrustSource,
  consoleSites,
  consoleSource,
} from './sites/sources.ts';
import { consoleRotateSource } from './sites/rotations.ts';
import { consoleSubscribe, consoleSubscriptions, consoleUnsubscribe } from './sites/subscriptions.ts';
import { consoleTrustSite, consoleTrustSiteForm } from './sites/trust-site.ts';
import { consoleFront } from './store/front-page.ts';
import { consoleCarry } from './transfers/overview.ts';
import { consoleExportReceipt, consoleReceipt } from './transfers/receipt.ts';
import { consoleTransferUpload } from './transfers/uploads.ts';
import { consoleExportKeyRequest } from './keys/key-request.ts';
import { consoleMakeRequest, consolePreviewRequest, consoleRequests } from './sites/requests.ts';
import {
  consoleAcceptTransfer,
  consoleDiscardTransfer,
  consoleTransfer,
  consoleWithdrawTransfer,
} from './transfers/transfer.ts';
import { consoleAnswerInvite, consoleAnswerOffer } from './packages/invite-answers.ts';
import { consoleJudgeProposal, consoleProposal } from './approvals/proposal.ts';
import { consoleApproveUpload, consoleRejectUpload, consoleUpload } from './uploads/upload.ts';
import { consoleWaiting } from './approvals/pending.ts';
import { consoleLogIn, consoleLogOut, consoleReauthenticate, consoleSubmitLogIn } from './login/log-in.ts';
import { consoleReleaseHistory } from './releases/history.ts';
import {
  consoleAskEndOwnToken,
  consoleEndOwnToken,
  consoleMyself,
  consoleUpdateMyself,
} from './accounts/own-account.ts';
import { consoleMakeToken, consoleNewToken } from './tokens/new-token.ts';
import {
  consoleBeginOneTimePasswords,
  consoleOneTimePasswords,
  consoleRenewRecoveryCodes,
  consoleSwitchOffOneTimePasswords,
  consoleSwitchOnOneTimePasswords,
} from './accounts/one-time-passwords.ts';
import { consoleChangePassword, consolePassword } from './accounts/own-password.ts';
import {
  consoleAskRemoveCollaborator,
  consoleCollaborators,
  consoleInviteCollaborator,
  consoleRemoveCollaborator,
  consoleRevokeInvite,
} from './packages/collaborators.ts';
import { consoleAskDescribe, consoleDescribe } from './packages/describe.ts';
import { consolePackages } from './packages/list.ts';
import { consolePackage } from './packages/package.ts';
import { consoleUsage } from './packages/usage.ts';
import { consoleResources } from './resources/resources.ts';
import { consolePackageVulnerabilities } from './vulnerabilities/package-findings.ts';
import { consolePreviewRelease, consoleRelease } from './releases/release.ts';
import {
  consolePauseRollout,
  consoleResumeRollout,
  consoleRollBackRollout,
  consoleRollout,
  consoleRollouts,
} from './releases/rollouts.ts';
import { consoleRevision } from './revisions/revision.ts';
import { consoleRevisions } from './revisions/revisions.ts';
import {
  consoleAskDeleteTrack,
  consoleCreateTrack,
  consoleDeleteTrack,
  consoleTrack,
  consoleTracks,
  consoleUpdateTrack,
} from './releases/tracks.ts';
import { consoleAskWithdraw, consoleRestore, consoleWithdraw } from './revisions/withdraw.ts';
import {
  consoleAskDisable,
  consoleAskEndTokens,
  consoleDisable,
  consoleEnable,
  consoleEndTokens,
  consoleSetQuota,
} from './accounts/account-forms.ts';
import { consolePerson } from './accounts/account.ts';
import { consoleInvitePerson, consolePeople } from './accounts/list.ts';
import { consoleAskChangeRole, consoleChangeRole } from './accounts/roles.ts';
import { consoleAskSetUpLink, consoleMakeSetUpLink } from './accounts/set-up-link.ts';
import { consoleAskEndToken, consoleEndToken, consoleTokens } from './tokens/tokens.ts';
import { consoleBackUp, consoleBackups, consoleRunDrill } from './backups/backups.ts';
import { consoleBrand, consoleBrands, consoleCreateBrand } from './brands/brands.ts';
import {
  consoleAddSerialPolicy,
  consoleAskDeleteModel,
  consoleAskDeleteSerialPolicy,
  consoleCreateModel,
  consoleDeleteModel,
  consoleDeleteSerialPolicy,
  consoleModel,
  consoleSetModelApiKey,
} from './brands/models.ts';
import {
  consoleAddRemodel,
  consoleAskRemoveRemodel,
  consoleRemodels,
  consoleRemoveRemodel,
} from './brands/remodels.ts';
import {
  consoleAskDeleteSigningKey,
  consoleDeleteSigningKey,
  consoleMakeSigningKey,
  consoleSigningKey,
  consoleTakeKeyAnswer,
} from './keys/signing-key.ts';
import { consoleDevice, consoleDevices } from './fleets/devices.ts';
import {
  consoleFleet,
  consoleFleets,
  consoleSetFleetChannel,
  consoleSetFleetWindow,
  consoleSnapFleets,
} from './fleets/fleets.ts';
import { consoleSetUp } from './store/first-steps.ts';
import { consoleSearch } from './store/search.ts';
import { consoleSettings } from './store/settings.ts';
import { consoleStorage } from './store/storage.ts';
import { consoleStyles } from './store/styles.ts';
import { consoleFeedUpload } from './vulnerabilities/feed-upload.ts';
import {
  consoleAskRemoveFeed,
  consoleImportFeed,
  consoleRemoveFeed,
  consoleUploadedFeed,
} from './vulnerabilities/feeds.ts';
import { consoleVulnerabilities } from './vulnerabilities/vulnerabilities.ts';
import {
  consoleAcceptFinding,
  consoleVulnerability,
  consoleWithdrawAcceptedFinding,
} from './vulnerabilities/vulnerability.ts';

export const consoleSection: OperationSection = {
  title: 'Console',
  about: 'Pages for people. Each runs the same acts as the matching operation or command.',
  operations: [
    consoleFront,
    consoleSetUp,
    consoleSearch,
    consolePackages,
    consolePackage,
    consolePreviewRelease,
    consoleRelease,
    consoleReleaseHistory,
    consoleResources,
    consolePackageVulnerabilities,
    consoleUsage,
    consoleRollouts,
    consoleRollout,
    consolePauseRollout,
    consoleResumeRollout,
    consoleRollBackRollout,
    consoleAskDescribe,
    consoleDescribe,
    consoleTracks,
    consoleCreateTrack,
    consoleTrack,
    consoleUpdateTrack,
    consoleAskDeleteTrack,
    consoleDeleteTrack,
    consoleGuardrails,
    consoleAddGuardrail,
    consoleAskRemoveGuardrail,
    consoleRemoveGuardrail,
    consoleDeviceGrants,
    consoleGrantToDevices,
    consoleAskRevokeFromDevices,
    consoleRevokeFromDevices,
    consoleCollaborators,
    consoleInviteCollaborator,
    consoleRevokeInvite,
    consoleAskRemoveCollaborator,
    consoleRemoveCollaborator,
    consoleRevisions,
    consoleRevision,
    consoleVulnerability,
    consoleAcceptFinding,
    consoleWithdrawAcceptedFinding,
    consoleAskWithdraw,
    consoleWithdraw,
    consoleRestore,
    consolePeople,
    consoleInvitePerson,
    consoleTokens,
    consoleAskEndToken,
    consoleEndToken,
    consolePerson,
    consoleAskSetUpLink,
    consoleMakeSetUpLink,
    consoleAskDisable,
    consoleDisable,
    consoleEnable,
    consoleAskEndTokens,
    consoleEndTokens,
    consoleSetQuota,
    consoleAskChangeRole,
    consoleChangeRole,
    consoleAudit,
    consoleExportAudit,
    consolePolicy,
    consoleWaiting,
    consoleUpload,
    consoleApproveUpload,
    consoleRejectUpload,
    consoleProposal,
    consoleJudgeProposal,
    consoleAnswerInvite,
    consoleAnswerOffer,
    consoleVulnerabilities,
    ...Object.values(consoleFeedUpload),
    consoleUploadedFeed,
    consoleImportFeed,
    consoleAskRemoveFeed,
    consoleRemoveFeed,
    consoleBrands,
    consoleCreateBrand,
    consoleBrand,
    consoleMakeSigningKey,
    consoleSigningKey,
    consoleTakeKeyAnswer,
    consoleAskDeleteSigningKey,
    consoleDeleteSigningKey,
    consoleCreateModel,
    consoleModel,
    consoleAddSerialPolicy,
    consoleAskDeleteSerialPolicy,
    consoleDeleteSerialPolicy,
    consoleSetModelApiKey,
    consoleAskDeleteModel,
    consoleDeleteModel,
    consoleRemodels,
    consoleAddRemodel,
    consoleAskRemoveRemodel,
    consoleRemoveRemodel,
    consoleDevices,
    consoleFleets,
    consoleFleet,
    consoleSetFleetWindow,
    consoleSnapFleets,
    consoleSetFleetChannel,
    consoleDevice,
    consoleBackups,
    consoleBackUp,
    consoleRunDrill,
    consoleStorage,
    consoleSettings,
    ...(isCheckout() ? [consoleStyles] : []),
    consoleMyself,
    consoleUpdateMyself,
    consolePassword,
    consoleChangePassword,
    consoleOneTimePasswords,
    consoleBeginOneTimePasswords,
    consoleSwitchOnOneTimePasswords,
    consoleRenewRecoveryCodes,
    consoleSwitchOffOneTimePasswords,
    consoleNewToken,
    consoleMakeToken,
    consoleAskEndOwnToken,
    consoleEndOwnToken,
    consoleCarry,
    consoleRequests,
    consoleSubscriptions,
    consoleSubscribe,
    consoleUnsubscribe,
    consoleSites,
    consoleSource,
    consoleChangeSource,
    consoleRotateSource,
    consoleAskDistrustSource,
    consoleDistrustSource,
    consoleTrustSiteForm,
    consoleTrustSite,
    consolePreviewRequest,
    consoleMakeRequest,
    consoleExportKeyRequest,
    consoleTransfer,
    consoleReceipt,
    consoleExportReceipt,
    ...Object.values(consoleTransferUpload),
    consoleAcceptTransfer,
    consoleWithdrawTransfer,
    consoleDiscardTransfer,
    consoleLogIn,
    consoleSubmitLogIn,
    consoleReauthenticate,
    consoleLogOut,
    consoleAsset,
  ],
};

export const consoleOperations = consoleSection.operations;
