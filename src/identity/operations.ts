// All operations of the identity provider.
import type { Operation, OperationSection } from '#http/operation.ts';
import { agentLogin } from './discharge/agent-login.ts';
import { discharge } from './discharge/discharge.ts';
import { form, submitForm } from './discharge/form-login.ts';
import { invite, submitInvite } from './invite.ts';
import { agentLoginLegacy, loginLegacy } from './discharge/legacy-login.ts';
import { identityStyle, login, submitLogin } from './login/login-page.ts';
import { beginCertificateLogin, finishCertificateLogin } from './certificates/certificate-login.ts';
import { beginOpenidLogin, endOpenidLogin, finishOpenidLogin } from './openid/openid-login.ts';
import { dischargeInfo, publicKey } from './discharge/public-key.ts';
import { dischargeToken, loginRedirect } from './login/login-redirect.ts';
import { openSetUpLink, setUp, submitSetUp } from './credentials/set-up.ts';
import { waitLegacy, waitToken } from './discharge/wait-login.ts';

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
  beginOpenidLogin,
  finishOpenidLogin,
  endOpenidLogin,
  beginCertificateLogin,
  finishCertificateLogin,
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

/** The operations at the address where browsers present their client certificates. */
export const certificateOperations: Operation[] = [finishCertificateLogin, identityStyle];

export const identitySection: OperationSection = {
  title: 'Identity',
  about: 'Login at the built-in identity provider, for browsers, bakery clients and older tools.',
  operations: identityOperations,
};
