// The interface of the identity provider for operations. `src/identity/` implements it, and the appliance passes it in.
import type { Account } from '#records/accounts/accounts.ts';
import type { X509Certificate } from '#domain/cryptography.ts';
import type { LoginProofKind } from '#records/tokens/macaroons.ts';
import type { AddressedCaveat } from '#macaroons/discharger.ts';

/** The input of a login. */
export interface LoginCredentials {
  /** A user name or an e-mail address. */
  name: string;
  password: string;
  /** Required if the account uses one-time passwords. */
  oneTimePassword?: string | undefined;
  address: string;
  requestId: string;
  /** Whether the person has acknowledged the login banner. */
  acknowledged?: boolean | undefined;
  /** The session of the caller, which is of the same account. Its login has met the rules for the roles of the account. */
  sessionId?: string | undefined;
}

/** An account after its password was found correct. */
export interface ProvenAccount extends Account {
  /** When that password was set: RFC 3339. */
  passwordSetAt: string;
}

export interface Logins {
  /** Returns the account of these credentials. Every wrong name or password gets the same refusal after the same time. */
  logIn(credentials: LoginCredentials): Promise<Account>;
  /** Like `logIn`, for steps that need more than a password: refuses an account without one-time passwords. */
  logInWithBoth(credentials: LoginCredentials): Promise<Account>;
  /** The first half of `logIn`, for pages that ask for the one-time password on a second page. */
  checkPassword(credentials: LoginCredentials): Promise<{ account: ProvenAccount; needsOneTimePassword: boolean }>;
  /**
   * Completes a login after `checkPassword`, with the one-time password. A wrong one counts as a failed login, and each is accepted once.
   * With a session, it proves the credentials of that session again and is no new login.
   * Refused if the password has changed since `checkPassword`.
   */
  finish(account: ProvenAccount, credentials: Omit<LoginCredentials, 'password'>): Promise<void>;
  /** Refuses an account if its roles, or `furtherRoles`, require a login with a client certificate. */
  refuseWithoutCertificate(account: Account, furtherRoles?: readonly string[]): Promise<void>;
  /** The account of a set-up link, while the link is valid. */
  setUpLink(secret: string): Promise<Account | undefined>;
  /** Sets the password of the account of the link, and uses the link up; `endTokens` ends the tokens of the account permanently. */
  setPassword(secret: string, password: string, about: { requestId: string; endTokens: boolean }): Promise<void>;
}

/** The target of the browser after a login, with the parameters that the sending application expects. */
export interface Redirect {
  readonly to: string;
  readonly state: string | undefined;
}

/** A login that a client began and that a person finishes in a browser. */
export interface Interaction {
  /** The id that the browser knows. */
  readonly id: string;
  /** The caveat to discharge; undefined if a web application began the login, which later returns with a code. */
  readonly caveat: AddressedCaveat | undefined;
  readonly redirect: Redirect | undefined;
  /** The address of the client. */
  readonly address: string;
  /** The account, after the password was correct and while the one-time password is missing. */
  readonly halfway: ProvenAccount | undefined;
}

/** A login that has just begun. */
export interface StartedInteraction extends Interaction {
  /** The client waits for the end with this id; not derived from the other id. */
  readonly waitId: string;
}

/** The account that has logged in, and how. */
export interface ProvenLogin {
  accountId: string;
  provenBy: LoginProofKind | null;
}

/** Pending logins: few, short, and visible to every process of the store. */
export interface Interactions {
  begin(
    about: Pick<Interaction, 'address'> & Partial<Pick<Interaction, 'caveat' | 'redirect'>>,
  ): Promise<StartedInteraction>;
  /** Returns a pending, unfinished login; refuses as expired if there is none. */
  find(id: string): Promise<Interaction>;
  /** Returns the account of a finished login; undefined if the login is not finished or no longer exists. */
  findFinishedAccount(id: string): Promise<Account | undefined>;
  /** Records that the password of the account was correct. */
  halfway(id: string, account: ProvenAccount): Promise<void>;
  /** Records the account that logged in, and returns the token that proves it; a waiting client gets the token too. */
  finish(id: string, account: Account, provenBy?: LoginProofKind): Promise<string>;
  /** Waits until the login is finished in any process. `signal` ends the wait early, as expired. */
  wait(waitId: string, signal: AbortSignal): Promise<{ caveat: AddressedCaveat | undefined; token: string }>;
  /** Returns a code that a browser carries in place of a token: valid for one minute and one token. */
  codeFor(token: string): Promise<string>;
  tokenFor(code: string): Promise<string>;
  /** Returns the login of a token, and uses the token up. A token that was made for a caveat is valid for that caveat only. */
  redeem(token: string, caveat: AddressedCaveat): Promise<ProvenLogin>;
  /** Ends all waits: the appliance stops. */
  close(): void;
}

/** Limits guesses of the credential of the store administrator. */
export interface ExchangeLimit {
  /** Counts a wrong guess; refuses with 429 if the address has made too many. */
  failed(address: string): Promise<void>;
}

/** Changes that an account makes to its own credentials after a login. */
export interface OwnCredentials {
  /** Checks the credentials of an account again; works and counts like a login. */
  prove(accountId: string, again: RepeatedCredentials): Promise<ProvenAccount>;
  /**
   * Like `prove`, before an act. An account without a password of this store proves itself by a recent login with the OpenID provider in
   * this session; without one it is refused as `ReauthenticationRequired`.
   */
  proveBeforeAct(accountId: string, again: RepeatedCredentials): Promise<void>;
  /** Checks the password only, for steps before the account has one-time passwords. */
  provePassword(accountId: string, again: RepeatedCredentials): Promise<ProvenAccount>;
  /** Sets the password of an account after the old one was proven; `endTokensAt` ends all sessions and tokens of the account. */
  changePassword(
    account: ProvenAccount,
    password: string,
    about: SessionContext & { endTokensAt: string | null },
  ): Promise<void>;
  /**
   * Creates a secret for an authenticator and shows it once. The store keeps nothing; the owner sends the proposal back with a first code.
   */
  proposeTotp(account: Account, about: SessionContext): Promise<ProposedTotp>;
  /** Opens a proposal that the owner sends back; refuses one of another session or of another origin. */
  proposedTotp(account: Account, proposal: string, about: SessionContext): ProposedTotp;
  /** Activates a proposed secret after its first correct code; returns recovery codes, which are shown once. */
  switchOnTotp(
    account: Account,
    proposed: { proposal: string; code: string },
    about: SessionContext,
  ): Promise<string[]>;
  /** Replaces the recovery codes. */
  renewRecoveryCodes(account: Account, about: SessionContext): Promise<string[]>;
  /** Turns one-time passwords off; refused if the store requires them for the account. */
  switchOffTotp(account: Account, about: SessionContext): Promise<void>;
}

/** The credentials that a logged-in account enters again, in a session of the console. */
export interface RepeatedCredentials extends Omit<LoginCredentials, 'name' | 'acknowledged'> {
  sessionId: string;
}

/** The session of a change. */
export interface SessionContext {
  sessionId: string;
  requestId: string;
}

export interface ProposedTotp {
  /** For authenticators: as text to type, and as an address. */
  secret: string;
  address: string;
  /** Sent back with a first code: the secret, sealed for this session. */
  proposal: string;
}

/** A session of the console that proves its account again. */
export interface ProvenSession {
  accountId: string;
  sessionId: string;
}

/** Where a login in a browser leads: to a page of the console, or to the end of a login that a client began. */
export type LoginTarget = { console: string } | { login: string };

/** Where a login with the OpenID provider leads: the same, or back to a session that proves its account again. */
export type OpenidTarget = LoginTarget | { proves: ProvenSession };

export interface FinishedOpenidLogin {
  account: Account;
  target: OpenidTarget;
  /** The id of the login at the provider; undefined if it gives none. */
  sessionId: string | undefined;
  /** Whether the provider can confirm the login again in the background. */
  canRefresh: boolean;
}

/** Logins with the OpenID provider of the site. */
export interface OpenidLogins {
  /** Begins a login: the address at the provider, and a sealed text that the browser keeps. */
  begin(target: OpenidTarget, address: string): Promise<{ url: string; pending: string }>;
  /** Finishes a login with the query that the provider sent the browser back with. Each login can be finished once. */
  finish(returned: {
    search: string;
    pending: string;
    address: string;
    requestId: string;
  }): Promise<FinishedOpenidLogin>;
  /** Ends the sessions that a logout token of the provider names; refuses any other token. Each token counts once. */
  endSessions(logoutToken: string, address: string): Promise<void>;
}

/** The certificate that a browser has presented on its connection. */
export interface PresentedCertificate {
  /** Undefined if there was none. */
  certificate: X509Certificate | undefined;
  /** The code of OpenSSL; undefined if it has verified the certificate. */
  problem: string | undefined;
}

export interface FinishedCertificateLogin {
  account: Account;
  target: LoginTarget;
  certificate: X509Certificate;
  /** How long the certificate is valid. */
  maxAgeMs: number;
}

/** Logins with client certificates. The browser presents its certificate at an address of its own. */
export interface CertificateLogins {
  /** Begins a login: the address for the certificate, and a sealed text that the browser keeps. */
  begin(target: LoginTarget): { url: string; pending: string };
  /** Finishes a login. Each login can be finished once. */
  finish(returned: {
    presented: PresentedCertificate;
    pending: string;
    address: string;
    requestId: string;
  }): Promise<FinishedCertificateLogin>;
}

export interface IdentityProvider {
  certificates: CertificateLogins;
  openid: OpenidLogins;
  logins: Logins;
  own: OwnCredentials;
  exchanges: ExchangeLimit;
  interactions: Interactions;
}
