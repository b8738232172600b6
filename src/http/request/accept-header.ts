// Reads the Accept header of a request.
import type { IncomingMessage } from 'node:http';

/** Whether the Accept header names this media type, in any letter case, and does not exclude it with q=0 (RFC 9110, 12.5.1). */
export const acceptsMediaType = ({ headers }: IncomingMessage, mediaType: string): boolean =>
  (headers.accept ?? '').split(',').some((range) => {
    const [form, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return form === mediaType && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
