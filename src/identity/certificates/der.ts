// Reads DER (X.690) as far as certificates and revocation lists need it. Every element is a view of the bytes, so nothing is copied.

export interface DerElement {
  tag: number;
  content: Buffer;
  /** The element with its tag and length. */
  whole: Buffer;
}

/** Thrown for bytes that are not DER, or not of the expected form. */
export class InvalidDer extends Error {}

export const derTag = { integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, sequence: 0x30, set: 0x31 };

/** Where an element begins and ends. */
export interface DerSpan {
  tag: number;
  contentAt: number;
  end: number;
}

/** Reads the tag and length at `at`. Refuses long tags, indefinite lengths and an element that ends after `limit`. */
export function readSpan(bytes: Buffer, at: number, limit = bytes.length): DerSpan {
  if (at + 2 > limit) throw new InvalidDer('the bytes end too early');
  const tag = bytes.readUInt8(at);
  const first = bytes.readUInt8(at + 1);
  if ((tag & 0x1f) === 0x1f) throw new InvalidDer('a tag is too long');
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > limit) throw new InvalidDer('a length is invalid');
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
  const contentAt = at + 2 + lengthBytes;
  if (contentAt + length > limit) throw new InvalidDer('an element is longer than the bytes');
  return { tag, contentAt, end: contentAt + length };
}

/** Reads the elements that follow each other in these bytes. */
export function readElements(bytes: Buffer, maxCount = 4096): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    if (elements.length === maxCount) throw new InvalidDer('there are too many elements');
    const { tag, contentAt, end } = readSpan(bytes, at);
    elements.push({ tag, content: bytes.subarray(contentAt, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** Reads bytes that are exactly one element with this tag; returns the elements in it. */
export function readOnly(bytes: Buffer, tag: number): DerElement[] {
  const { tag: actual, contentAt, end } = readSpan(bytes, 0);
  if (actual !== tag || end !== bytes.length) throw new InvalidDer('an element has another form');
  return readElements(bytes.subarray(contentAt));
}

/** The elements of a nested element; refuses another tag. */
export function elementsIn(element: DerElement | undefined, tag: number): DerElement[] {
  if (element?.tag !== tag) throw new InvalidDer('an element has another form');
  return readElements(element.content);
}

/** An object identifier as hexadecimal digits. */
export function oidOf(element: DerElement | undefined): string {
  if (element?.tag !== derTag.oid) throw new InvalidDer('an object identifier is missing');
  return element.content.toString('hex');
}

export interface DerExtension {
  oid: string;
  isCritical: boolean;
  value: Buffer;
}

/** Reads the extensions of a certificate or a revocation list; `element` has the explicit tag around them. */
export function readExtensions(element: DerElement | undefined): DerExtension[] {
  if (element === undefined) return [];
  return readOnly(element.content, derTag.sequence).map((extension) => {
    const [oid, second, third] = elementsIn(extension, derTag.sequence);
    const value = third ?? second;
    if (value?.tag !== derTag.octetString) throw new InvalidDer('an extension has another form');
    return { oid: oidOf(oid), isCritical: third !== undefined && second?.content[0] !== 0, value: value.content };
  });
}

/** Reads a UTCTime or GeneralizedTime of RFC 5280 (4.1.2.5). */
export function readTime({ tag, content }: DerElement): Date {
  const text = content.toString('latin1');
  const year = tag === 0x17 ? (Number(text.slice(0, 2)) < 50 ? '20' : '19') : tag === 0x18 ? '' : undefined;
  const [, date, clock] = /^(\d{8})(\d{6})Z$/.exec(`${year ?? 'x'}${text}`) ?? [];
  if (date === undefined || clock === undefined) throw new InvalidDer('a time has another form');
  const time = new Date(
    `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${clock.slice(0, 2)}:${clock.slice(2, 4)}:${clock.slice(4)}Z`,
  );
  if (Number.isNaN(time.getTime())) throw new InvalidDer('a time has another form');
  return time;
}
