// What earlier releases left behind when they adopted a site's former store: a source that is trusted with everything, and its key.

/** The name of the source. */
export const formerStoreName = 'former-store';

/** The folder with its private key, in the data directory. */
export const formerStoreFolder = 'adopting';
