// Access to uploads that a package has claimed, by their ids: for whoever works on the package, and for who decides on them.
import { Refusal } from '#domain/refusal.ts';
import type { Permission } from '#domain/permission.ts';
import type { Principal } from '#domain/principal.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Review } from '#records/uploads.ts';
import { onPackage, storeAdministrator, type Access, type Asked, type PackageEvidence } from './access.ts';

/** An upload, its package, and the part the caller has in that. */
export interface UploadEvidence extends PackageEvidence {
  upload: Review;
}

/** Whoever works on the package that has claimed the upload in the path. To everybody else the upload does not exist. */
export const onUpload = (permission: Permission): Access<UploadEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(asked) {
      await asked.authenticate();
      const { upload, subject } = await uploadIn(asked);
      try {
        const { namespace, name } = subject;
        return { ...(await sees.admit({ ...asked, params: { namespace, name } })), upload };
      } catch (refusal) {
        if (refusal instanceof Refusal && refusal.code === 'resource-not-found') throw noUpload(upload.id);
        throw refusal;
      }
    },
  };
};

/** Who asks, and the way to the upload in the path, which is looked for once it is known how far his token goes. */
export interface UploadsOfAll {
  principal: Principal;
  uploadNamed(): Promise<{ upload: Review; package: PublishedPackage }>;
}

/** The upload in the path, for a store administrator. */
export const storeAdministratorOnUpload = (permission: 'store-view' | 'store-manage'): Access<UploadsOfAll> => {
  const admits = storeAdministrator(permission);
  return {
    ...admits,
    admit: async (asked) => ({
      ...(await admits.admit(asked)),
      async uploadNamed() {
        const { upload, subject } = await uploadIn(asked);
        return { upload, package: subject };
      },
    }),
  };
};

async function uploadIn({ params, records }: Asked): Promise<{ upload: Review; subject: PublishedPackage }> {
  const id = params['upload_id'] ?? '';
  const upload = await records.uploads.claimed(id);
  const subject = upload && (await records.packages.byId(upload.packageId));
  if (upload === undefined || subject === undefined) throw noUpload(id);
  return { upload, subject };
}

const noUpload = (id: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `There is no upload '${id.slice(0, 64)}', or this account has no part in its package.`,
  );
