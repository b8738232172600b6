// Manages pending logins: a client begins one, a person finishes it in a browser, and the client waits for it. Any process of the
// store can serve each step. All counts are bounded.
import { randomBytes } from '#domain/cryptography.ts';
import type { Interactions } from '#http/identity-provider.ts';
import { clientOf } from '#domain/client.ts';
import { after, minutes, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PendingLoginState } from '#records/login/pending-logins.ts';
import { createChangeWaiter } from '#shared/change-waiter.ts';
import { openLoginDetails, sealLoginDetails } from './login-details.ts';
import { createLoginProofs, digestOf, loginExpired } from './login-proofs.ts';

export interface InteractionOptions {
  records: Pick<StoreRecords, 'accounts' | 'pendingLogins' | 'ephemeral'>;
  siteKey: Buffer;
  now: Now;
  /** Maximums to use instead of the defaults. Only tests set them. */
  bounds?: Partial<Bounds>;
}

interface Bounds {
  /** Pending logins of one client, and their total size in bytes. */
  ofClient: number;
  bytesOfClient: number;
  /** Pending logins of all clients. */
  all: number;
  /** Finished logins: unused tokens that prove them, and unused codes. */
  proofs: number;
}

/** The time limit of a login. */
const life = minutes(15);
/** Beyond these maximums new logins are refused; a pending login is never displaced by others. */
const defaultBounds: Bounds = { ofClient: 200, bytesOfClient: 4 * 1024 * 1024, all: 20_000, proofs: 5000 };

export function createInteractions({ records, siteKey, now, bounds = {} }: InteractionOptions): Interactions {
  const limits = { ...defaultBounds, ...bounds };
  const logins = records.pendingLogins;
  const proofs = createLoginProofs({ records, siteKey, now, maxProofs: limits.proofs });
  const waiting = createChangeWaiter();
  const at = (): string => timestamp(now());
  let closed = false;

  /** A login can be finished once; submitting the page twice changes nothing. */
  const unfinished = async (id: string): Promise<PendingLoginState> => {
    const pending = await logins.find(digestOf(id), at());
    if (pending === undefined || pending.accountId !== null) throw loginExpired();
    return pending;
  };

  return {
    async begin(about) {
      if (closed) throw loginExpired();
      const [id, waitId, client] = [newId(), newId(), digestOf(clientOf(about.address))];
      const sealed = sealLoginDetails(siteKey, digestOf(id), about);
      const login = { id: digestOf(id), waitId: digestOf(waitId), client, about: sealed };
      // Refuse before any work is done; checked again inside the transaction, because several requests can arrive together.
      await refuseBeyond(limits, logins, login, at());
      await records.ephemeral(async (tx) => {
        await refuseBeyond(limits, tx.pendingLogins, login, at());
        await tx.pendingLogins.begin({ ...login, endsAt: timestamp(after(now(), life)) });
      });
      return { id, waitId, caveat: undefined, redirect: undefined, ...about, halfway: undefined };
    },

    async find(id) {
      const { about, halfway, passwordSetAt } = await unfinished(id);
      const account = await accountOf(records, halfway);
      const proven = account && passwordSetAt !== null ? { ...account, passwordSetAt } : undefined;
      return { id, ...openLoginDetails(siteKey, digestOf(id), about), halfway: proven };
    },

    findFinishedAccount: async (id) => accountOf(records, (await logins.find(digestOf(id), at()))?.accountId),

    async halfway(id, account) {
      const isStored = await records.ephemeral((tx) => tx.pendingLogins.halfway(digestOf(id), account, at()));
      if (!isStored) throw loginExpired();
    },

    async finish(id, account, provenBy) {
      const { waitId, about } = await unfinished(id);
      const { caveat } = openLoginDetails(siteKey, digestOf(id), about);
      const token = proofs.make();
      const sealed = seal(siteKey, Buffer.from(token), tokenOf(waitId));
      await records.ephemeral(async (tx) => {
        const finished = { accountId: account.id, token: sealed, now: at() };
        if (!(await tx.pendingLogins.finish(digestOf(id), finished))) throw loginExpired();
        await proofs.keep(tx, token, { accountId: account.id, caveat, provenBy: provenBy ?? null });
      });
      waiting.tell(waitId);
      return token;
    },

    wait: waiter({ logins, waiting, siteKey, now, isClosed: () => closed }),

    codeFor: proofs.codeFor,
    tokenFor: proofs.tokenFor,
    redeem: proofs.redeem,

    close() {
      closed = true;
      waiting.close();
    },
  };
}

interface Waiter extends Pick<InteractionOptions, 'siteKey' | 'now'> {
  logins: StoreRecords['pendingLogins'];
  waiting: ReturnType<typeof createChangeWaiter>;
  isClosed: () => boolean;
}

const waiter =
  ({ logins, waiting, siteKey, now, isClosed }: Waiter): Interactions['wait'] =>
  async (waitId, signal) => {
    const at = (): string => timestamp(now());
    const key = digestOf(waitId);
    const look = async () => {
      const login = await logins.awaited(key, at());
      return login === undefined || login.token !== null ? { login } : undefined;
    };
    const timeoutMs = Date.parse((await logins.awaited(key, at()))?.endsAt ?? at()) - now().getTime();
    const { login } = (await waiting.until(key, look, { timeoutMs, signal })) ?? {};
    if (login === undefined || login.token === null || isClosed()) throw loginExpired();
    const { caveat } = openLoginDetails(siteKey, login.id, login.about);
    return { caveat, token: unseal(siteKey, login.token, tokenOf(key)).toString() };
  };

const accountOf = async (
  { accounts }: Pick<StoreRecords, 'accounts'>,
  id: string | null | undefined,
): Promise<Account | undefined> => (id === null || id === undefined ? undefined : accounts.find(id));

async function refuseBeyond(
  limits: Bounds,
  held: StoreRecords['pendingLogins'],
  { client, about }: { client: string; about: string },
  at: string,
): Promise<void> {
  const own = await held.of(client, at);
  if (own.count >= limits.ofClient || own.size + about.length > limits.bytesOfClient) throw tooMany();
  if (await held.reaches(limits.all, at)) throw tooMany();
}

/** 64 hexadecimal digits and `ID`, the format that clients of this protocol expect. */
const newId = (): string => `${randomBytes(32).toString('hex')}ID`;

const tokenOf = (waitId: string): string => `token of the login ${waitId}`;

const tooMany = (): Refusal =>
  new Refusal(
    'too-many-requests',
    'Too many logins are in progress. Finish one of them, or try again in a minute.',
    60,
  );
