// Names that earlier releases used when they adopted a site's former store: a fully trusted source and its key.

/** Name of the source. */
export const formerStoreName = 'former-store';

/** Folder with its private key, in the data directory. */
export const formerStoreFolder = 'adopting';
