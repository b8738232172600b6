/** Thrown if a file is not a valid transfer. The message describes the problem in one sentence. */
export class NotATransfer extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotATransfer';
  }
}
