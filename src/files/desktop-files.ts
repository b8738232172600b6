// Recognizes files that desktop systems leave on sticks: resource forks and previews of macOS, previews of Windows.
// They are not user content.
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

/** The magic number of AppleDouble files, such as `._in.tar` beside `in.tar` (RFC 1740, appendix B). */
const appleDouble = '00051607';

/** Whether a desktop system left a file or folder: it has a known name, or is an AppleDouble file. */
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
    // If it cannot be read, it counts as another file, and its reader reports the problem.
    return '';
  }
}
