// The interface of the identity provider for operations. `src/identity/` implements it, and the appliance passes it in.
import type { Account } from '#records/accounts/accounts.ts';
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
   * Refused if the password has changed since `checkPassword`.
   */
  finish(account: ProvenAccount, credentials: Omit<LoginCredentials, 'password'>): Promise<void>;
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
  finish(id: string, account: Account): Promise<string>;
  /** Waits until the login is finished in any process. `signal` ends the wait early, as expired. */
  wait(waitId: string, signal: AbortSignal): Promise<{ caveat: AddressedCaveat | undefined; token: string }>;
  /** Returns a code that a browser carries in place of a token: valid for one minute and one token. */
  codeFor(token: string): Promise<string>;
  tokenFor(code: string): Promise<string>;
  /** Returns the account id of a token, and uses the token up. A token that was made for a caveat is valid for that caveat only. */
  redeem(token: string, caveat: AddressedCaveat): Promise<string>;
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

/** The credentials that a logged-in account enters again. */
export type RepeatedCredentials = Omit<LoginCredentials, 'name'>;

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

export interface IdentityProvider {
  logins: Logins;
  own: OwnCredentials;
  exchanges: ExchangeLimit;
  interactions: Interactions;
}
