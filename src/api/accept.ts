// Which forms of an answer a client names.
import type { IncomingMessage } from 'node:http';

/** Whether a client names this form, in whatever letters, and does not say that it takes none of it (RFC 9110, 12.5.1). */
export const names = ({ headers }: IncomingMessage, mediaType: string): boolean =>
  (headers.accept ?? '').split(',').some((one) => {
    const [form, ...said] = one.split(';').map((part) => part.trim().toLowerCase());
    return form === mediaType && !said.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
