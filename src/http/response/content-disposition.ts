// The header that names the file that a browser saves (RFC 6266).

/** File systems allow 255 bytes in a name, and browsers append a number or an extension. */
const maxNameLength = 200;
/** Names that Windows reserves for devices, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Returns a name that is safe on every file system: letters, digits, `_`, `.` and `-`. It does not begin with `.` or `-`, so that it is not
 * a hidden file, a command option or another folder.
 */
export function safeFileName(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_').replace(/^[.-]+|\.+$/g, '_');
  const cut = plain.length > maxNameLength ? `_${plain.slice(1 - maxNameLength)}` : plain;
  return cut === '' || deviceName.test(cut) ? `_${cut}` : cut;
}

/** The browser saves the response and does not show it. */
export const attachment = (name: string) => ({
  'content-disposition': `attachment; filename="${safeFileName(name)}"`,
});

/** The browser shows the response if it can; a person who saves it gets this name. */
export const shownFile = (name: string) => ({ 'content-disposition': `inline; filename="${safeFileName(name)}"` });
