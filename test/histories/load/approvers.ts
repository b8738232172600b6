// Approvers of a store under test: made by `larder init`, so that their approvals count from the first day.
import { codeAt } from '#identity/credentials/totp.ts';
import { bindForRequest } from '#src/macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#src/macaroons/codec/text.ts';
import { setUpWith } from '#test/cli/accounts/set-up.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { ask } from '#test/fixtures/processes/workers.ts';

/** The part of `larder init --json` for each approver. */
export interface ApproverHandout {
  id: string;
  username: string;
  link: string;
  secret: string;
  'recovery-codes': string[];
}

const approverNames = ['bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi', 'ivan', 'judy', 'mallory'];

/** The options of `larder init` that make the approvers. */
export const approverOptions: readonly string[] = approverNames.flatMap((name) => ['--approver', name]);

/** The rule for releases of gated packages: two of the approvers. */
export const approvalRules = (approvers: readonly { id: string }[]): string[] => [
  `2 of ${approvers.map(({ id }) => id).join(', ')} for bin/*-gated:*/*`,
];

export const password = 'four pumps at the harbour, 9';

const stepMs = 30_000;
/** How often a code is sent at most. Ten failures without a login between them make an account wait. */
const maxSent = 3;

/** An approver with a token, and an authenticator that knows which codes were sent. */
export class Approver {
  readonly id: string;
  readonly token: string;
  readonly #secret: Buffer;
  /** The number of the time step of the last code. */
  #step = 0;
  /** How often a code was sent, and whether a login with it was acknowledged. */
  readonly #codes = new Map<string, { sent: number; isUsed: boolean }>();

  constructor({ id, secret }: Pick<ApproverHandout, 'id' | 'secret'>, token: string) {
    this.id = id;
    this.token = token;
    this.#secret = fromBase32(secret);
  }

  /** Whether the authenticator shows a code that was not sent yet. */
  get hasNewCode(): boolean {
    return Math.floor(Date.now() / stepMs) > this.#step;
  }

  /** Whether the authenticator's code was sent, but not so often that failures begin to slow the account's logins down. */
  get mayRepeatCode(): boolean {
    return !this.hasNewCode && this.#codes.get(codeAt(this.#secret, this.#step))!.sent < maxSent;
  }

  /** The code of this half minute, to be sent. */
  takeCode(): string {
    this.#step = Math.floor(Date.now() / stepMs);
    const code = codeAt(this.#secret, this.#step);
    const { sent = 0, isUsed = false } = this.#codes.get(code) ?? {};
    this.#codes.set(code, { sent: sent + 1, isUsed });
    return code;
  }

  /** Whether the store may refuse a code: it was sent more than once, or a later one was sent and may have been used. */
  isRefusable(code: string): boolean {
    return this.#codes.get(code)!.sent > 1 || code !== codeAt(this.#secret, this.#step);
  }

  /** Records a login with a code; false if there was one before. */
  use(code: string): boolean {
    const entry = this.#codes.get(code)!;
    if (entry.isUsed) return false;
    return (entry.isUsed = true);
  }
}

/** Sets the passwords by the links of init, and logs each approver in. */
export async function setUpApprovers(handouts: readonly ApproverHandout[], url: string): Promise<Approver[]> {
  const approvers: Approver[] = [];
  for (const handout of handouts) {
    const status = await setUpWith(handout.link, url, password);
    if (status !== 303) throw new Error(`cannot set the password of ${handout.username}: ${status}`);
    approvers.push(new Approver(handout, await logIn(handout, url)));
  }
  return approvers;
}

/** A token of one's own. One that `larder token issue` makes would count as a change of the account. */
async function logIn(handout: ApproverHandout, url: string): Promise<string> {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const reply = await ask(url, path, { method: 'POST', body, headers });
    if (reply.status !== 200) throw new Error(`cannot log in ${handout.username}: ${reply.status} ${reply.text}`);
    return reply.body;
  };
  const { macaroon } = await post('/v1/tokens/usso', {});
  const root = readToken(macaroon)!;
  const caveat = root.caveats.find(({ verificationId }) => verificationId !== undefined)!;
  // The first recovery code, so that the codes of the authenticator are left for approvals.
  const credentials = { email: handout.username, password, otp: handout['recovery-codes'][0] };
  const caveatId = caveat.identifier.toString();
  const { discharge_macaroon: discharge } = await post('/api/v2/tokens/discharge', {
    ...credentials,
    caveat_id: caveatId,
  });
  const bound = writeToken(bindForRequest(root, readToken(discharge)!), 1);
  const authorization = `Macaroon root=${macaroon}, discharge=${bound}`;
  return (await post('/v1/tokens/usso/exchange', {}, { authorization })).macaroon as string;
}
