// Files that desktops leave on every stick: forks and previews of macOS, previews of Windows. They are no content of a person.
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const names = new Set([
  ...[
    '.DS_Store',
    '.Spotlight-V100',
    '.Trashes',
    '.fseventsd',
    '.TemporaryItems',
    '.DocumentRevisions-V100',
    '.apdisk',
  ],
  ...['System Volume Information', '$RECYCLE.BIN', 'Thumbs.db', 'desktop.ini', 'lost+found'],
]);

/** What an AppleDouble file begins with, such as `._in.tar` beside `in.tar` (RFC 1740, appendix B). */
const appleDouble = '00051607';

/** Whether a file or folder was left by a desktop: it has one of their names, or is an AppleDouble file. */
export function isDesktopFile(path: string): boolean {
  const name = basename(path);
  return names.has(name) || (name.startsWith('._') && beginOf(path) === appleDouble);
}

function beginOf(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const begin = Buffer.alloc(4);
      return begin.toString('hex', 0, readSync(file, begin));
    } finally {
      closeSync(file);
    }
  } catch {
    // Reading a file that is not one of these says what is wrong with it.
    return '';
  }
}
