// All operations of the identity provider.
import type { Operation, OperationSection } from '#api/operation.ts';
import { agentLogin } from './agent.ts';
import { discharge } from './discharge.ts';
import { form, submitForm } from './form.ts';
import { invite, submitInvite } from './invite.ts';
import { agentLoginLegacy, loginLegacy } from './legacy.ts';
import { identityStyle, login, submitLogin } from './login-page.ts';
import { dischargeInfo, publicKey } from './public-key.ts';
import { dischargeToken, loginRedirect } from './redirect.ts';
import { openSetUpLink, setUp, submitSetUp } from './set-up.ts';
import { waitLegacy, waitToken } from './wait.ts';

export const identityOperations: Operation[] = [
  dischargeInfo,
  publicKey,
  discharge,
  login,
  submitLogin,
  waitToken,
  agentLogin,
  form,
  submitForm,
  loginRedirect,
  dischargeToken,
  loginLegacy,
  agentLoginLegacy,
  waitLegacy,
  setUp,
  openSetUpLink,
  submitSetUp,
  invite,
  submitInvite,
  identityStyle,
];

export const identitySection: OperationSection = {
  title: 'Identity',
  about: 'Logging in at the identity provider inside, as browsers, bakery clients and older tools do.',
  operations: identityOperations,
};
