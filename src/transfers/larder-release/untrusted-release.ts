/** Thrown if a release of larder cannot be trusted. The message is one sentence. */
export class UntrustedRelease extends Error {
  override name = 'UntrustedRelease';
}
