// Credentials of the image registry: to push into one repository for a while, and to pull from one for good.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { after, hours, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { ImageCredential } from '#records/image-credentials.ts';
import type { Records } from '#records/index.ts';
import type { Repository } from './repository.ts';

export interface Login {
  username: string;
  password: string;
}

export interface CredentialsOptions {
  records: Records;
  clock: Now;
  newId: NewIds;
  /** Keeps a secret at rest; `purpose` must be given again to open it. */
  seal: (secret: Buffer, purpose: string) => string;
  unseal: (sealed: string, purpose: string) => Buffer;
  /** Whether uploads come past here. Where another registry takes them in, nobody here sees how they move. */
  seesUploads: () => boolean;
}

export interface Credentials {
  /** New credentials to push, and to pull, on behalf of an account. */
  toPush(repository: Repository, entry: AuditEntry & { sessionId: string }): Promise<Login>;
  /** The credentials to pull from a repository; always the same ones. */
  toPull(repository: Repository, entry: AuditEntry): Promise<Login>;
  /** The credentials of this name and password, while they last; the first use is noted. */
  logIn(login: Login, entry: Omit<AuditEntry, 'actor' | 'object'>): Promise<ImageCredential | undefined>;
  /** The credentials of this name, while they last. */
  find(id: string): Promise<ImageCredential | undefined>;
  /** The credentials of this name, also those that have ended. */
  remember(id: string): Promise<ImageCredential | undefined>;
  /** Says that an upload moves, which keeps its credentials alive. */
  moves(id: string): void;
  /** When credentials end, however much moves. */
  end(credential: ImageCredential): Date | undefined;
}

/** How long credentials to push wait: for their first use, and from then on for something to move. */
const patience = minutes(10);
const atMost = hours(6);

export function createCredentials(options: CredentialsOptions): Credentials {
  const { records, clock, newId, seal, unseal, seesUploads } = options;
  /** When something last moved, by the name of the credentials. */
  const moved = new Map<string, Date>();

  function moves(id: string): void {
    const now = clock();
    for (const [other, at] of moved) {
      if (now.getTime() - at.getTime() < patience) break; // the others moved later: the map is in the order of time
      moved.delete(other);
    }
    moved.delete(id);
    moved.set(id, now);
  }

  const end = ({ kind, issuedAt }: ImageCredential): Date | undefined =>
    kind === 'pull' ? undefined : after(new Date(issuedAt), atMost);

  function lasts(credential: ImageCredential): boolean {
    const until = end(credential);
    if (until === undefined) return true;
    const now = clock();
    if (credential.firstUsedAt !== null && !seesUploads()) return now < until;
    const last = moved.get(credential.id) ?? new Date(credential.firstUsedAt ?? credential.issuedAt);
    return now < until && now < after(last, patience);
  }

  async function find(id: string): Promise<ImageCredential | undefined> {
    const found = await records.imageCredentials.find(id, timestamp(clock()));
    return found !== undefined && lasts(found) ? found : undefined;
  }

  return {
    async toPush(repository, entry) {
      const password = newPassword();
      const id = `push-${newId.id()}`;
      const now = clock();
      await records.change({ ...entry, details: { ...entry.details, credentials: id } }, async (tx) => {
        await tx.imageCredentials.forgetIssuedBefore(repository, timestamp(after(now, -atMost)));
        await tx.imageCredentials.addToPush(repository, {
          id,
          secretSha256: digestOf(password),
          accountId: entry.actor,
          sessionId: entry.sessionId,
          issuedAt: timestamp(now),
        });
      });
      return { username: id, password };
    },

    async toPull(repository, entry) {
      let kept = await records.imageCredentials.toPull(repository);
      if (kept === undefined) {
        const password = newPassword();
        const id = `pull-${newId.id()}`;
        kept = await records.change({ ...entry, details: { ...entry.details, credentials: id } }, async (tx) => {
          // Somebody else may have asked at the same moment.
          const there = await tx.imageCredentials.toPull(repository);
          if (there !== undefined) return there;
          const sealedSecret = seal(Buffer.from(password), purpose(id));
          await tx.imageCredentials.addToPull(repository, {
            id,
            secretSha256: digestOf(password),
            sealedSecret,
            issuedAt: timestamp(clock()),
          });
          return { id, sealedSecret };
        });
      }
      return { username: kept.id, password: unseal(kept.sealedSecret, purpose(kept.id)).toString() };
    },

    async logIn({ username, password }, entry) {
      const found = await find(username);
      const given = Buffer.from(digestOf(password));
      if (found === undefined || !timingSafeEqual(given, Buffer.from(found.secretSha256))) return undefined;
      if (found.kind === 'push') {
        if (found.firstUsedAt === null) {
          const first = { ...entry, actor: found.accountId ?? 'anyone', object: `${found.namespace}/${found.name}` };
          const details = { ...entry.details, resource: found.resource, credentials: found.id };
          await records.change({ ...first, details }, (tx) => tx.imageCredentials.use(found.id, entry.at));
        }
        moves(found.id);
      }
      return found;
    },

    find,
    remember: (id) => records.imageCredentials.byId(id),
    moves,
    end,
  };
}

const newPassword = (): string => randomBytes(32).toString('base64url');
const digestOf = (password: string): string => hash('sha256', password);
const purpose = (id: string): string => `image credentials ${id}`;
