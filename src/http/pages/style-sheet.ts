// The style sheet of a kind of pages: the common rules first, then its own.
import { embeddedText } from '#platform/embedded.ts';

/** `path` is the embedded file with the rules of that kind of pages. */
export const styleSheet = (path: string): string => `${embeddedText('src/http/pages/base.css')}\n${embeddedText(path)}`;
