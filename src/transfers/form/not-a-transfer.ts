/** What was read is no transfer, or none any more; the message says what is wrong with it, as a sentence. */
export class NotATransfer extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotATransfer';
  }
}
