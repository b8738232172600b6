// What operations may ask of the identity provider; `src/identity/` is it, and the appliance hands it in.
import type { Account } from '#records/accounts.ts';
import type { AskedCaveat } from '#macaroons/discharger.ts';

/** What somebody says to log in. */
export interface Credentials {
  /** A user name or an e-mail address. */
  name: string;
  password: string;
  /** Where the account asks for one. */
  oneTimePassword?: string | undefined;
  address: string;
  requestId: string;
}

/** Somebody whose password was right. */
export interface Proven extends Account {
  /** When that password was set: RFC 3339. */
  passwordSetAt: string;
}

export interface Logins {
  /** The account of these credentials. The same refusal, after the same time, for all that is wrong with name or password. */
  logIn(credentials: Credentials): Promise<Account>;
  /** The same for what a password alone does not suffice for: refuses an account that is asked for no one-time password. */
  logInWithBoth(credentials: Credentials): Promise<Account>;
  /** The first half of that, for pages that ask for the one-time password on a second page. */
  checkPassword(credentials: Credentials): Promise<{ account: Proven; needsOneTimePassword: boolean }>;
  /** The second half; counts as a failed login when it is wrong, and takes no one-time password twice. Refused where the
   * password has been changed meanwhile. */
  finish(account: Proven, credentials: Omit<Credentials, 'password'>): Promise<void>;
  /** The account of a link with which somebody sets his own password, while it is good. */
  setUpLink(secret: string): Promise<Account | undefined>;
  /** Sets the password of the link's account, and uses the link up; with `endTokens` the account's tokens end for good. */
  setPassword(secret: string, password: string, about: { requestId: string; endTokens: boolean }): Promise<void>;
}

/** Where a browser goes when somebody has logged in, with what the application that sent it wants back. */
export interface Redirect {
  readonly to: string;
  readonly state: string | undefined;
}

/** A login that a client began and that a person finishes in a browser. */
export interface Interaction {
  /** What the browser knows it by. */
  readonly id: string;
  /** What it will discharge; nothing yet when a web application began it, which comes back with a code. */
  readonly caveat: AskedCaveat | undefined;
  readonly redirect: Redirect | undefined;
  /** Who asked. */
  readonly address: string;
  /** Somebody whose password was right, and who is asked for the one-time password. */
  readonly halfway: Proven | undefined;
}

/** A login that has just begun. */
export interface BegunInteraction extends Interaction {
  /** What the client knows it by, when it waits for the end; not derived from the other. */
  readonly waitId: string;
}

/** Logins under way: few, short, and known to every process of the store. */
export interface Interactions {
  begin(
    about: Pick<Interaction, 'address'> & Partial<Pick<Interaction, 'caveat' | 'redirect'>>,
  ): Promise<BegunInteraction>;
  /** One that is under way and that nobody has finished; refused as expired when there is none. */
  find(id: string): Promise<Interaction>;
  /** Who has logged in by one that is finished; nothing when it is not, or when there is none any more. */
  whoFinished(id: string): Promise<Account | undefined>;
  /** Notes whose password was right. */
  halfway(id: string, account: Proven): Promise<void>;
  /** Notes who has logged in, and gives the token that proves it; whoever waits for it gets it too. */
  finish(id: string, account: Account): Promise<string>;
  /** Waits until somebody has logged in, at whichever process. Ends early, as expired, with `signal`. */
  wait(waitId: string, signal: AbortSignal): Promise<{ caveat: AskedCaveat | undefined; token: string }>;
  /** A code in place of a token, for a browser to carry: good for a minute, and for one token. */
  codeFor(token: string): Promise<string>;
  tokenFor(code: string): Promise<string>;
  /** The id of the account that a token stands for; uses the token up. One that was made for a caveat is good for no other. */
  redeem(token: string, caveat: AskedCaveat): Promise<string>;
  /** Whoever still waits is sent away: the appliance stops. */
  close(): void;
}

/** Guesses of the store administrator's credential. */
export interface ExchangeLimit {
  /** Counts a wrong one; refuses with 429 instead when there were too many from there. */
  failed(address: string): Promise<void>;
}

/** What somebody does to what he proves himself with, once he has logged in. */
export interface OwnCredentials {
  /** Proves once more that it is the owner of an account who asks, as a login does, and counts like one. */
  prove(accountId: string, again: Again): Promise<Proven>;
  /** The same by the password alone, for what comes before there are one-time passwords. */
  provePassword(accountId: string, again: Again): Promise<Proven>;
  /** Sets the password of an account whose old one was proven; with `endTokensAt` everything ends that lets it in. */
  changePassword(account: Proven, password: string, about: About & { endTokensAt: string | null }): Promise<void>;
  /** A secret for an authenticator, shown this once; nothing of it is kept but what the owner brings back with a first code. */
  proposeTotp(account: Account, about: About): Promise<ProposedTotp>;
  /** What somebody brings back, as it was shown to him; refused when it is not of this session, or none of ours. */
  proposedTotp(account: Account, proposal: string, about: About): ProposedTotp;
  /** Puts a proposed secret in force, once a code of it has come; gives recovery codes, which are shown this once. */
  switchOnTotp(account: Account, proposed: { proposal: string; code: string }, about: About): Promise<string[]>;
  /** New recovery codes in the place of those that were. */
  renewRecoveryCodes(account: Account, about: About): Promise<string[]>;
  /** Ends one-time passwords; refused where the store asks the account for them. */
  switchOffTotp(account: Account, about: About): Promise<void>;
}

/** What somebody says once more who is logged in. */
export type Again = Omit<Credentials, 'name'>;

/** The session in which somebody does something. */
export interface About {
  sessionId: string;
  requestId: string;
}

export interface ProposedTotp {
  /** As authenticators take it: typed in, and as an address. */
  secret: string;
  address: string;
  /** What is brought back with a first code: the secret, sealed for this session. */
  proposal: string;
}

export interface Identity {
  logins: Logins;
  own: OwnCredentials;
  exchanges: ExchangeLimit;
  interactions: Interactions;
}
