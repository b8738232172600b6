// Quotas: how much a publisher may store.

/**
 * The total size in bytes of the contents of all packages of a publisher, each content counted once, and the number of
 * packages.
 */
export interface Quota {
  bytes: number;
  packages: number;
}

/** More than any publisher has. */
export const unlimited = Number.MAX_SAFE_INTEGER;

/** The default quota, from the configuration. */
export const readDefaultQuota = ({
  bytes = unlimited,
  packages = unlimited,
}: {
  readonly bytes?: number;
  readonly packages?: number;
}): Quota => ({ bytes, packages });

/** The quota of one publisher: their own limits, else the default. */
export const quotaOf = (own: { [Member in keyof Quota]: number | null } | undefined, defaultQuota: Quota): Quota => ({
  bytes: own?.bytes ?? defaultQuota.bytes,
  packages: own?.packages ?? defaultQuota.packages,
});
