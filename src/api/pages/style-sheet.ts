// The style sheet of a kind of pages, behind what all pages share.
import { embeddedText } from '#src/embedded.ts';

/** `path` is the embedded file with what that kind of pages looks like. */
export const styleSheet = (path: string): string => `${embeddedText('src/api/pages/base.css')}\n${embeddedText(path)}`;
