// Access to claimed uploads by their ids: for accounts that work on the package, and for administrators who decide on uploads.
import { Refusal } from '#domain/refusal.ts';
import type { Permission } from '#domain/tokens/permission.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Review } from '#records/uploads/uploads.ts';
import {
  onPackage,
  storeAdministrator,
  type Access,
  type AccessRequest,
  type PackageEvidence,
} from './access-rules.ts';

/** An upload, its package, and the role of the caller in it. */
export interface UploadEvidence extends PackageEvidence {
  upload: Review;
}

/** Admits an account that works on the package that has claimed the upload in the path. To every other caller the upload does not exist. */
export const onUpload = (permission: Permission): Access<UploadEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(accessRequest) {
      await accessRequest.authenticate();
      const { upload, subject } = await uploadIn(accessRequest);
      try {
        const { namespace, name } = subject;
        return { ...(await sees.admit({ ...accessRequest, params: { namespace, name } })), upload };
      } catch (refusal) {
        if (refusal instanceof Refusal && refusal.code === 'resource-not-found') throw noUpload(upload.id);
        throw refusal;
      }
    },
  };
};

/** The caller, and a way to find the upload in the path after the limits of the token are known. */
export interface StoreUploadEvidence {
  principal: Principal;
  uploadNamed(): Promise<{ upload: Review; package: PublishedPackage }>;
}

/** The upload in the path, for a store administrator. */
export const storeAdministratorOnUpload = (permission: 'store-view' | 'store-manage'): Access<StoreUploadEvidence> => {
  const admits = storeAdministrator(permission);
  return {
    ...admits,
    admit: async (accessRequest) => ({
      ...(await admits.admit(accessRequest)),
      async uploadNamed() {
        const { upload, subject } = await uploadIn(accessRequest);
        return { upload, package: subject };
      },
    }),
  };
};

async function uploadIn({ params, records }: AccessRequest): Promise<{ upload: Review; subject: PublishedPackage }> {
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
