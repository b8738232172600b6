// Checks whether a drawing (SVG) is safe to show, and is a drawing at all. Icons are served to browsers, so scripts,
// foreign content, event handlers and references to other addresses are refused.

/** Elements that run code or show external content. */
const refusedElements = new Set([
  'script',
  'foreignobject',
  'iframe',
  'embed',
  'object',
  'audio',
  'video',
  'handler',
  'listener',
]);
const namePattern = /^([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)/;

/** Elements of web pages have attributes that load or send something, such as `srcset` and `action`. */
const webPage = 'http://www.w3.org/1999/xhtml';
/** Attributes that browsers read as a style, or that an animation writes into a style. */
const styled = /^(?:style|fill|stroke|filter|mask|clip-path|cursor|marker(?:-\w+)?|from|to|by|values)$/;

/** Says why a text is not a drawing that can be shown; undefined if it can. */
export function svgProblem(text: string): string | undefined {
  let hasRoot = false;
  for (const tag of tagsOf(text)) {
    if (tag === undefined) return 'it is not well-formed';
    if (tag.startsWith('<!--') || tag.startsWith('<![CDATA[')) continue;
    if (tag.startsWith('<?')) {
      if (!/^<\?xml\s/.test(tag)) return 'it has an instruction for programs';
      continue;
    }
    if (tag.startsWith('<!')) {
      if (!/^<!DOCTYPE\s+svg\b[^[]*>$/i.test(tag)) return 'it has declarations of its own';
      continue;
    }
    if (tag.startsWith('</')) continue;
    const [whole, , element = ''] = namePattern.exec(tag.slice(1)) ?? [];
    if (whole === undefined) return 'it is not well-formed';
    if (!hasRoot && element !== 'svg') return 'it does not begin with an svg element';
    hasRoot = true;
    if (refusedElements.has(element.toLowerCase())) return `it has an element '${element.toLowerCase()}'`;
    const problem = attributesProblem(tag.slice(1 + whole.length, -1));
    if (problem !== undefined) return problem;
  }
  if (!hasRoot) return 'it has no svg element';
  const styles = parsed(text);
  if (/<(?:[\w.-]{1,40}:)?style[\s>]/i.test(text) && styles.includes('\\')) return 'its style has an escape';
  return styleProblem(styles);
}

/** A text as an XML parser joins it: without comments and the marks of CDATA, and with its character references replaced. */
const parsed = (text: string): string => withoutReferences(text.replace(/<!--[^]*?-->|<!\[CDATA\[|\]\]>/g, ''));

/** A text with its character references replaced by their characters. Other entities do not exist in a drawing without declarations. */
const withoutReferences = (text: string): string =>
  text.replace(/&#(?:x0*([0-9a-f]{1,6})|0*([0-9]{1,7}));/gi, (whole, hexadecimal?: string, decimal?: string) => {
    const point = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });

/** The tags, comments, declarations and instructions of a text; undefined if one does not end, or if text precedes the first. */
function* tagsOf(text: string): Generator<string | undefined> {
  let from = text.indexOf('<');
  const isSound =
    from >= 0 &&
    text
      .slice(0, from)
      .replace(/^\ufeff/, '')
      .trim() === '';
  if (!isSound) {
    yield undefined;
    return;
  }
  for (; from >= 0; from = text.indexOf('<', from)) {
    const end = endOf(text, from);
    if (end < 0) {
      yield undefined;
      return;
    }
    yield text.slice(from, end);
    from = end;
  }
}

function endOf(text: string, from: number): number {
  for (const [begin, end] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
  ] as const) {
    if (!text.startsWith(begin, from)) continue;
    const at = text.indexOf(end, from + begin.length);
    return at < 0 ? -1 : at + end.length;
  }
  // A `>` may be in the quotes of an attribute.
  let quote = '';
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return at + 1;
    else if (char === '<') return -1;
  }
  return -1;
}

const attribute = /([^\s=/"'<>]{1,40}) ?= ?(?:"([^"]*)"|'([^']*)')/g;

function attributesProblem(text: string): string | undefined {
  for (const [, name = '', double, single = ''] of text.replace(/\s+/g, ' ').matchAll(attribute)) {
    const value = withoutReferences(double ?? single).trim();
    const plain = name.toLowerCase().replace(/^.*:/, '');
    if (plain.startsWith('on')) return `it has a handler '${plain.slice(0, 20)}'`;
    const isReference = plain === 'href' || plain === 'src';
    if (isReference && !/^(?:$|#|data:image\/(?:png|jpeg|gif);)/i.test(value)) return 'it refers to another address';
    if (plain === 'attributename' && /href$/i.test(value)) return 'it changes a reference';
    if (/^xmlns(?::|$)/i.test(name) && value === webPage) return 'it has elements of a web page';
    if (!styled.test(plain) && !/url/i.test(value)) continue;
    if (value.includes('\\')) return 'its style has an escape';
    const problem = styleProblem(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** References in styles must be to the drawing itself or to embedded pictures. */
function styleProblem(text: string): string | undefined {
  if (/@import/i.test(text)) return 'it imports a style';
  if (/image-set\(/i.test(text)) return 'it refers to another address';
  return /url\((?!\s{0,20}["']?(?:#|data:image\/))/i.test(text) ? 'it refers to another address' : undefined;
}
