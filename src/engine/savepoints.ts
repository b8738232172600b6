// When a batch of changes uses savepoints. Most batches have none, because each costs a message to a server; in a file, SQLite copies every
// page that the change writes, which takes up to a tenth of the time of a registration (`npm run bench -- writes`).

/** Number of batches with savepoints after a batch was repeated with them. */
export const carefulBatchCount = 16;

/** A change of a batch without savepoints is refused after it has written, so it cannot be rolled back alone. The cause is its own error. */
export class NeedsSavepoints extends Error {}
