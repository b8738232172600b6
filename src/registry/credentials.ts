// Credentials of the image registry: to push into one repository for a limited time, and to pull from one without a
// limit.
import { computeDigest, randomBytes, timingSafeEqual } from '#domain/cryptography.ts';
import type { Acts, Actor } from '#acts/act.ts';
import {
  issuePushCredential,
  issuePullCredential,
  maxPushCredentialMs,
  useImageCredential,
  type PulledImage,
} from '#acts/images/credentials.ts';
import { after, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { ImageCredential } from '#records/images/image-credentials.ts';
import type { StoreRecords } from '#records/index.ts';

export interface RegistryLogin {
  username: string;
  password: string;
}

export interface CredentialsOptions {
  records: StoreRecords;
  acts: Acts;
  clock: Now;
  newId: NewIds;
  /** Seals a secret; `purpose` must be given again to open it. */
  seal: (secret: Buffer, purpose: string) => string;
  unseal: (sealed: string, purpose: string) => Buffer;
  /** Whether uploads pass through this store. If another registry receives them, their progress is unknown here. */
  seesUploads: () => boolean;
}

export interface RegistryCredentials {
  /** Creates credentials to push, and to pull, for an account. */
  toPush(
    target: Pick<PulledImage, 'package' | 'repository'>,
    actor: Actor & { sessionId: string },
  ): Promise<RegistryLogin>;
  /** Returns the credentials to pull an image from its repository; the same ones at every call. */
  toPull(image: PulledImage, actor: Actor): Promise<RegistryLogin>;
  /** Returns the credentials with this name and password while they are valid; records the first use. */
  logIn(login: RegistryLogin, from: { address: string; requestId: string }): Promise<ImageCredential | undefined>;
  /** Returns the credentials with this name while they are valid. */
  find(id: string): Promise<ImageCredential | undefined>;
  /** Returns the credentials with this name, even if they have expired. */
  findEvenExpired(id: string): Promise<ImageCredential | undefined>;
  /** Reports progress of an upload, which extends its credentials. */
  recordProgress(id: string): void;
  /** When credentials expire, regardless of progress. */
  end(credential: ImageCredential): Date | undefined;
}

/** How long push credentials wait for their first use, and afterwards for progress of an upload. */
const progressTimeoutMs = minutes(10);

export function createCredentials(options: CredentialsOptions): RegistryCredentials {
  const { records, acts, clock, newId, seal, unseal } = options;
  const { recordProgress, end, isValid } = createValidity(options);

  async function find(id: string): Promise<ImageCredential | undefined> {
    const credential = await records.imageCredentials.find(id, timestamp(clock()));
    return credential !== undefined && (await isValid(credential)) ? credential : undefined;
  }

  /** Creates pull credentials for a repository. The act returns the existing ones if there are some. */
  const createPullCredential = () => ({ ...newPullCredential(newId, seal), moment: timestamp(clock()) });

  return {
    async toPush(target, actor) {
      const password = newPassword();
      const credential = { id: `push-${newId.id()}`, secretSha256: digestOf(password) };
      const moment = timestamp(clock());
      await acts.do(issuePushCredential, actor, { ...target, credential, sessionId: actor.sessionId, moment });
      return { username: credential.id, password };
    },

    async toPull(image, actor) {
      const { repository, shouldKeep: isWanted, registry } = image;
      const existing =
        isWanted || registry !== undefined ? undefined : await records.imageCredentials.toPull(repository);
      const credential =
        existing ?? (await acts.do(issuePullCredential, actor, { ...image, ...createPullCredential() }));
      return { username: credential.id, password: passwordOf(credential, unseal) };
    },

    async logIn({ username, password }, { address, requestId }) {
      const credential = await find(username);
      const digest = Buffer.from(digestOf(password));
      if (credential === undefined || !timingSafeEqual(digest, Buffer.from(credential.secretSha256))) return undefined;
      if (credential.kind === 'push') {
        if (credential.firstUsedAt === null) {
          const actor = { actor: credential.accountId ?? 'anyone', requestId };
          await acts.do(useImageCredential, actor, { credential, address, moment: timestamp(clock()) });
        }
        recordProgress(credential.id);
      }
      return credential;
    },

    find,
    findEvenExpired: (id) => records.imageCredentials.byId(id),
    recordProgress,
    end,
  };
}

/** Creates pull credentials, as the records store them. */
export function newPullCredential(newId: Pick<NewIds, 'id'>, seal: CredentialsOptions['seal']) {
  const password = newPassword();
  const id = `pull-${newId.id()}`;
  const sealedSecret = seal(Buffer.from(password), purpose(id));
  return { credential: { id, secretSha256: digestOf(password), sealedSecret } };
}

/** The password of pull credentials. */
export const passwordOf = (
  { id, sealedSecret }: { id: string; sealedSecret: string },
  unseal: CredentialsOptions['unseal'],
): string => unseal(sealedSecret, purpose(id)).toString();

/** Decides how long credentials are valid, by their times and by the progress of uploads in any process of the store. */
function createValidity({
  records,
  clock,
  seesUploads,
}: Pick<CredentialsOptions, 'records' | 'clock' | 'seesUploads'>) {
  const recordProgress = (id: string): void => {
    records.countEvent('image-upload', id, timestamp(clock()));
  };

  const end = ({ kind, issuedAt }: ImageCredential): Date | undefined =>
    kind === 'pull' ? undefined : after(new Date(issuedAt), maxPushCredentialMs);

  async function isValid(credential: ImageCredential): Promise<boolean> {
    const until = end(credential);
    if (until === undefined) return true;
    const { id, firstUsedAt, issuedAt } = credential;
    const now = clock();
    if (firstUsedAt !== null && !seesUploads()) return now < until;
    const moved = firstUsedAt === null ? undefined : await records.lastCounted('image-upload', id);
    return now < until && now < after(new Date(moved ?? firstUsedAt ?? issuedAt), progressTimeoutMs);
  }

  return { recordProgress, end, isValid };
}

const newPassword = (): string => randomBytes(32).toString('base64url');
const digestOf = (password: string): string => computeDigest('secret', password);
const purpose = (id: string): string => `image credentials ${id}`;
