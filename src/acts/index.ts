// Every act: what may be done to the store, by noun. The documents and the tests go through it.
import { changeRole, createAccount, disableAccount, enableAccount } from './accounts.ts';
import type { Act } from './act.ts';
import { registerAgent, removeAgent } from './agents.ts';
import { renewCertificate } from './appliance.ts';
import {
  changeCredential,
  inviteAccount,
  rehashPassword,
  setOwnPassword,
  setPassword,
  setTotpSecret,
} from './credentials.ts';
import { logIn, putOffLogins } from './logins.ts';
import { expireBranches, pushReleases } from './releases.ts';
import { endTokens, forgetSessions, revokeOwnToken, revokeToken } from './tokens.ts';

export const everyAct: readonly Act<never, unknown>[] = [
  // Accounts
  changeRole,
  createAccount,
  disableAccount,
  enableAccount,
  // Agents
  registerAgent,
  removeAgent,
  // The appliance
  renewCertificate,
  // Credentials of people
  changeCredential,
  inviteAccount,
  rehashPassword,
  setOwnPassword,
  setPassword,
  setTotpSecret,
  // Logins
  logIn,
  putOffLogins,
  // Releases
  expireBranches,
  pushReleases,
  // Tokens
  endTokens,
  forgetSessions,
  revokeOwnToken,
  revokeToken,
];
