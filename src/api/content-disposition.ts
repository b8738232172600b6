// The header that names the file under which a browser saves an answer (RFC 6266).

/** File systems take 255 bytes in a name, and browsers add a number or an ending of their own. */
const maxNameLength = 200;
/** Names that Windows keeps for devices, with any ending. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name that is safe on every file system: letters, digits, `_`, `.` and `-`, beginning with none of the last two, so that it is
 * no hidden file, no option of a command and no other folder.
 */
export function safeFileName(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_').replace(/^[.-]+|\.+$/g, '_');
  const cut = plain.length > maxNameLength ? `_${plain.slice(1 - maxNameLength)}` : plain;
  return cut === '' || deviceName.test(cut) ? `_${cut}` : cut;
}

/** The browser saves the answer, and does not show it. */
export const attachment = (name: string) => ({
  'content-disposition': `attachment; filename="${safeFileName(name)}"`,
});

/** The browser shows the answer if it can; a person who saves it gets this name. */
export const shownFile = (name: string) => ({ 'content-disposition': `inline; filename="${safeFileName(name)}"` });
