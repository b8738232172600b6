// Quotas: how much a publisher may have in the store.

/** Bytes that the contents of all packages of a publisher take, each content once, and how many packages there are. */
export interface Quota {
  bytes: number;
  packages: number;
}

/** More than any publisher has. */
export const unlimited = Number.MAX_SAFE_INTEGER;

/** The quota of everybody for whom no other is set, as the configuration says it. */
export const quotaOfEverybody = ({
  bytes = unlimited,
  packages = unlimited,
}: {
  readonly bytes?: number;
  readonly packages?: number;
}): Quota => ({ bytes, packages });

/** The quota of one publisher: what is set for him, and for the rest what everybody has. */
export const quotaOf = (own: { [Member in keyof Quota]: number | null } | undefined, everybody: Quota): Quota => ({
  bytes: own?.bytes ?? everybody.bytes,
  packages: own?.packages ?? everybody.packages,
});
