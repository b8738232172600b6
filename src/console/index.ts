// All pages of the console.
import type { OperationSection } from '#api/operation.ts';
import { consoleAsset } from './assets.ts';
import { consoleAudit } from './audit/audit.ts';
import { consoleFront } from './front/front.ts';
import { consoleCarry } from './carry/carry.ts';
import { consoleRequests } from './carry/requests.ts';
import {
  consoleAcceptTransfer,
  consoleDiscardTransfer,
  consoleTransfer,
  consoleWithdrawTransfer,
} from './carry/transfer.ts';
import { consoleAnswerInvite, consoleAnswerOffer } from './waiting/answers.ts';
import { consoleJudgeProposal, consoleProposal } from './waiting/proposal.ts';
import { consoleApproveUpload, consoleRejectUpload, consoleUpload } from './waiting/upload.ts';
import { consoleWaiting } from './waiting/waiting.ts';
import { consoleLogIn, consoleLogOut, consoleSubmitLogIn } from './log-in.ts';
import { consoleReleaseHistory } from './packages/history.ts';
import { consoleAskEndOwnToken, consoleEndOwnToken, consoleMyself, consoleUpdateMyself } from './myself/myself.ts';
import { consoleMakeToken, consoleNewToken } from './myself/new-token.ts';
import {
  consoleBeginOneTimePasswords,
  consoleOneTimePasswords,
  consoleRenewRecoveryCodes,
  consoleSwitchOffOneTimePasswords,
  consoleSwitchOnOneTimePasswords,
} from './myself/one-time-passwords.ts';
import { consoleChangePassword, consolePassword } from './myself/password.ts';
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
import { consolePreviewRelease, consoleRelease } from './packages/release.ts';
import { consoleRevision } from './packages/revision.ts';
import { consoleRevisions } from './packages/revisions.ts';
import {
  consoleAskDeleteTrack,
  consoleCreateTrack,
  consoleDeleteTrack,
  consoleTrack,
  consoleTracks,
  consoleUpdateTrack,
} from './packages/tracks.ts';
import { consoleAskWithdraw, consoleRestore, consoleWithdraw } from './packages/withdraw.ts';
import {
  consoleAskDisable,
  consoleAskEndTokens,
  consoleDisable,
  consoleEnable,
  consoleEndTokens,
  consoleSetQuota,
} from './people/account-deeds.ts';
import { consolePerson } from './people/account.ts';
import { consoleInvitePerson, consolePeople } from './people/list.ts';
import { consoleAskChangeRole, consoleChangeRole } from './people/roles.ts';
import { consoleAskSetUpLink, consoleMakeSetUpLink } from './people/set-up-link.ts';
import { consoleAskEndToken, consoleEndToken, consoleTokens } from './people/tokens.ts';
import { consoleBackups } from './store/backups.ts';
import { consoleBrand, consoleBrands } from './store/brands.ts';
import { consoleDevice, consoleDevices } from './store/devices.ts';
import { consoleSettings } from './store/settings.ts';
import { consoleStorage } from './store/storage.ts';

export const consoleSection: OperationSection = {
  title: 'Console',
  about: 'Pages for people; each does what operations and commands do, by the same acts.',
  operations: [
    consoleFront,
    consolePackages,
    consolePackage,
    consolePreviewRelease,
    consoleRelease,
    consoleReleaseHistory,
    consoleAskDescribe,
    consoleDescribe,
    consoleTracks,
    consoleCreateTrack,
    consoleTrack,
    consoleUpdateTrack,
    consoleAskDeleteTrack,
    consoleDeleteTrack,
    consoleCollaborators,
    consoleInviteCollaborator,
    consoleRevokeInvite,
    consoleAskRemoveCollaborator,
    consoleRemoveCollaborator,
    consoleRevisions,
    consoleRevision,
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
    consoleWaiting,
    consoleUpload,
    consoleApproveUpload,
    consoleRejectUpload,
    consoleProposal,
    consoleJudgeProposal,
    consoleAnswerInvite,
    consoleAnswerOffer,
    consoleBrands,
    consoleBrand,
    consoleDevices,
    consoleDevice,
    consoleBackups,
    consoleStorage,
    consoleSettings,
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
    consoleTransfer,
    consoleAcceptTransfer,
    consoleWithdrawTransfer,
    consoleDiscardTransfer,
    consoleLogIn,
    consoleSubmitLogIn,
    consoleLogOut,
    consoleAsset,
  ],
};

export const consoleOperations = consoleSection.operations;
