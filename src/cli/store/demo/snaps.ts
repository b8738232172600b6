// Holds the two snaps of 'larder demo': squashfs images without programs, in base64. Made with
// 'mksquashfs FOLDER FILE -comp gzip -no-xattrs -all-root -no-fragments -nopad -all-time 0 -mkfs-time 0'.

export interface DemoSnap {
  readonly name: string;
  readonly file: string;
  readonly channel: string;
  readonly base64: string;
}

export const demoSnaps: readonly DemoSnap[] = [
  {
    name: 'demo-hello',
    file: 'demo-hello_1.0_all.snap',
    channel: 'latest/stable',
    base64:
      'aHNxcwQAAAAAAAAAAAACAAAAAAABABEA0AIBAAQAAABoAAAAAAAAALEBAAAAAAAAqQEAAAAAAAD//////////w4BAAAAAAAATgEA' +
      'AAAAAACGAQAAAAAAAJsBAAAAAAAASGVsbG8gZnJvbSBsYXJkZXIuCnjaHY6xDoMwDET3fIW3LC1q12x8R9XBJAYikhjZphV/35Tt' +
      '9HRPdw0rBUhU+b5SKew+JJq5BfDP4eGdHrWinAFGmLOowY5xw4XAGArzBmgukUbJu13aCNpwh2+2lY9eF14Eq96gYiKYTvAFJZFc' +
      'm35wKHHNRtEOIQ3wwlLebkLtrxo3ct1OPavhVMhFbnNuVKnZn0mO5n7x1kRpPgB42mNiWMLIAAUgRgIQ/wcCEF8YghmZkNQwA3Ex' +
      'kprDQDwbrPctXA0TEq0AxCxo8ixIZukwyDKwAmkAvE8N/jYAeNpjYIAAZiBWAWImBg6G4rzEAr3KxNwcRqgkjAZJZqTm5OTrlVSU' +
      'eACFGYH6clNLEgH2HwlnEwB42mNggAAPKK0CpTOgNAAMYADVhgEAAAAAAAAEgAAAAACjAQAAAAAAAA==',
  },
  {
    name: 'demo-notes',
    file: 'demo-notes_0.1_all.snap',
    channel: 'latest/edge',
    base64:
      'aHNxcwQAAAAAAAAAAAACAAAAAAABABEA0AIBAAQAAABoAAAAAAAAAMABAAAAAAAAuAEAAAAAAAD//////////x0BAAAAAAAAYQEA' +
      'AAAAAACXAQAAAAAAAKoBAAAAAAAAeNodjrEOwjAMRPd8hbcuUMGaje9ADG5i2qiJXdkuqH9P6HY63dM9xkYRMjW5sjhZ+JBaEY4w' +
      '3Mb7EGxvDfWI8ACjJJxhw7TiTOACVWQF9JDJkpbNT64PGTf4Fl9kd9hUZsVmF2iYCaYDhoqaSc/TYQyoaSlOyXcli/DEWl9hQuta' +
      'LEyh07lnc5wqha7wLkyN2P+dluThB0GlRNJOb3RlcyBmb3IgdGhlIGZpcnN0IGZpdmUgbWludXRlcy4KQgB42mNiWMLIAAVMQJwA' +
      'xP+BAMQ/AsSzgZiR4S1cDSOSWgUgZgGzEWYwA/FvJDOUIJgR2QwWJLU6DLIMrEAaAIfrDqU0AHjaY2CAACY4zcFQnJdYoFeZmJvD' +
      'CBUE0SpgmpkhN7Uk0QWoDKQwL78ktVivpKIEAOP4CXgRAHjaU2FABS5QOgNKAwAMIADRlwEAAAAAAAAEgAAAAACyAQAAAAAAAA==',
  },
];
