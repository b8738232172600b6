// Builds the values of a YAML text's first document, as go-yaml does: of equal keys the last counts, `<<`
// merges at its position, unknown tags are ignored. Text after the first document is not read.
import { quoted } from '../unacceptable.ts';
import { YamlScanner, type YamlToken } from './scanner.ts';
import { YamlFault } from './cursor.ts';

/** Values of a document; `Scalar` is the type that `scalar` returns. Aliases share their values. */
export type YamlValue<Scalar> = Scalar | YamlValue<Scalar>[] | Map<YamlValue<Scalar>, YamlValue<Scalar>>;

export interface ScalarSource {
  text: string;
  /** The expanded tag; undefined without one. */
  tag: string | undefined;
  /** Whether the text may be another type than text: it is not quoted and not a block scalar. */
  plain: boolean;
}

export interface TreeOptions<Scalar> {
  /** Returns the value of a scalar. Throws `YamlFault` for a text that its tag does not allow. */
  scalar: (source: ScalarSource, line: number) => Scalar;
  /** Called with a key that a mapping has a second time. */
  onDuplicate?: (mapping: Map<YamlValue<Scalar>, YamlValue<Scalar>>, key: YamlValue<Scalar>) => void;
  maxDepth: number;
  /** The maximum number of values written in the text. */
  maxValues: number;
  /** The maximum number of values with all aliases expanded. */
  maxExpandedValues: number;
}

/** Thrown for a text that a device can read, but that exceeds larder's limits. */
export class YamlTooLarge extends Error {}

type FrameKind = 'block-sequence' | 'indentless-sequence' | 'block-mapping' | 'flow-sequence' | 'flow-mapping' | 'pair';

/** A collection that is being read. */
interface Frame<Scalar> {
  kind: FrameKind;
  collection: YamlValue<Scalar>[] | Map<YamlValue<Scalar>, YamlValue<Scalar>>;
  /** The number of values in it so far, with aliases expanded. */
  size: number;
  first: boolean;
  key: { value: YamlValue<Scalar>; merges: boolean } | undefined;
  /** Whether the key of a flow mapping has no value, so that its value is empty. */
  keyAlone: boolean;
}

interface Properties {
  anchor: string | undefined;
  tag: string | undefined;
}

const isOneOf = (token: YamlToken, ...types: YamlToken['type'][]): boolean => types.includes(token.type);
const mergeProblem = "only a mapping or a list of mappings can be merged with '<<'";
const yamlTags = 'tag:yaml.org,2002:';

/** Reads the first document of `text`; undefined if there is none. Throws `YamlFault` or `YamlTooLarge`. */
export function readTree<Scalar>(text: string, options: TreeOptions<Scalar>): YamlValue<Scalar> | undefined {
  return new TreeReader(text, options).read();
}

class TreeReader<Scalar> {
  readonly #scanner: YamlScanner;
  readonly #options: TreeOptions<Scalar>;
  readonly #frames: Frame<Scalar>[] = [];
  readonly #anchors = new Map<string, YamlValue<Scalar>>();
  readonly #tagPrefixes = new Map([
    ['!', '!'],
    ['!!', yamlTags],
  ]);
  /** The number of values of each finished collection, with aliases expanded; open collections are absent. */
  readonly #sizes = new Map<YamlValue<Scalar>, number>();
  #valueCount = 0;
  /** How many pairs `<<` has copied. */
  #mergedCount = 0;
  #root: YamlValue<Scalar> | undefined;

  constructor(text: string, options: TreeOptions<Scalar>) {
    this.#scanner = new YamlScanner(text);
    this.#options = options;
  }

  read(): YamlValue<Scalar> | undefined {
    if (this.#scanner.peek().type === 'stream-end') return undefined;
    const explicit = this.#readDirectives();
    const token = this.#scanner.peek();
    const isEmpty = isOneOf(token, 'version', 'tag-directive', 'document-start', 'document-end', 'stream-end');
    if (explicit && isEmpty) this.#addEmpty(token.line);
    else this.#readNode(true, false);
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) this.#step(frame);
    // go-yaml checks one more token, and nothing after it.
    this.#scanner.peek();
    return this.#root;
  }

  /** Reads the directives and the `---` of the document; false if it has none. */
  #readDirectives(): boolean {
    const handles = new Set<string>();
    let hasVersion = false;
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      if (token.type === 'version') {
        if (hasVersion) fail('found duplicate %YAML directive', token);
        if (token.version !== '1.1') fail('found a YAML version other than 1.1', token);
        hasVersion = true;
      } else if (token.type === 'tag-directive') {
        if (handles.has(token.handle)) fail('found duplicate %TAG directive', token);
        handles.add(token.handle);
        this.#tagPrefixes.set(token.handle, token.prefix);
      } else if (token.type === 'document-start') {
        this.#scanner.skip();
        return true;
      } else if (hasVersion || handles.size > 0) fail("did not find expected '---'", token);
      else return false;
      this.#scanner.skip();
    }
  }

  #step(frame: Frame<Scalar>): void {
    if (frame.kind === 'block-sequence' || frame.kind === 'indentless-sequence') this.#stepBlockSequence(frame);
    else if (frame.kind === 'block-mapping') this.#stepBlockMapping(frame);
    else if (frame.kind === 'flow-sequence') this.#stepFlowSequence(frame);
    else if (frame.kind === 'flow-mapping') this.#stepFlowMapping(frame);
    else this.#stepPair(frame);
    frame.first = false;
  }

  #stepBlockSequence(frame: Frame<Scalar>): void {
    const token = this.#scanner.peek();
    const indentless = frame.kind === 'indentless-sequence';
    if (token.type === 'block-entry') {
      this.#scanner.skip();
      const next = this.#scanner.peek();
      const isEmpty = isOneOf(next, 'block-entry', 'block-end') || (indentless && isOneOf(next, 'key', 'value'));
      this.#readNodeUnless(isEmpty, true, false);
    } else if (indentless) this.#close();
    else if (token.type === 'block-end') this.#skipAndClose();
    else fail("did not find expected '-' indicator", token);
  }

  #stepBlockMapping(frame: Frame<Scalar>): void {
    const token = this.#scanner.peek();
    if (frame.key !== undefined) {
      const hasValue = token.type === 'value';
      if (hasValue) this.#scanner.skip();
      this.#readNodeUnless(!hasValue || isOneOf(this.#scanner.peek(), 'key', 'value', 'block-end'), true, true);
    } else if (token.type === 'key') {
      this.#scanner.skip();
      this.#readNodeUnless(isOneOf(this.#scanner.peek(), 'key', 'value', 'block-end'), true, true);
    } else if (token.type === 'block-end') this.#skipAndClose();
    else fail('did not find expected key', token);
  }

  /** Skips the comma between two entries; true at the end of the collection. */
  #isFlowEnd(frame: Frame<Scalar>, end: 'flow-sequence-end' | 'flow-mapping-end'): boolean {
    const token = this.#scanner.peek();
    if (token.type === end) return true;
    if (frame.first) return false;
    if (token.type !== 'flow-entry')
      fail(`did not find expected ',' or '${end === 'flow-sequence-end' ? ']' : '}'}'`, token);
    this.#scanner.skip();
    return this.#scanner.peek().type === end;
  }

  #stepFlowSequence(frame: Frame<Scalar>): void {
    if (this.#isFlowEnd(frame, 'flow-sequence-end')) return this.#skipAndClose();
    const token = this.#scanner.peek();
    if (token.type !== 'key') return this.#readNode(false, false);
    this.#scanner.skip();
    this.#open('pair', new Map());
  }

  /** A mapping of one pair that is written into a flow sequence without braces. */
  #stepPair(frame: Frame<Scalar>): void {
    const token = this.#scanner.peek();
    if (frame.first) {
      const isEmpty = isOneOf(token, 'value', 'flow-entry', 'flow-sequence-end');
      // go-yaml drops this token.
      if (isEmpty) this.#scanner.skip();
      this.#readNodeUnless(isEmpty, false, false);
    } else if (frame.key === undefined) this.#close();
    else {
      const hasValue = token.type === 'value';
      if (hasValue) this.#scanner.skip();
      this.#readNodeUnless(!hasValue || isOneOf(this.#scanner.peek(), 'flow-entry', 'flow-sequence-end'), false, false);
    }
  }

  #stepFlowMapping(frame: Frame<Scalar>): void {
    if (frame.key !== undefined) {
      const hasValue = this.#scanner.peek().type === 'value' && !frame.keyAlone;
      if (hasValue) this.#scanner.skip();
      const isEmpty = !hasValue || isOneOf(this.#scanner.peek(), 'flow-entry', 'flow-mapping-end');
      frame.keyAlone = false;
      return this.#readNodeUnless(isEmpty, false, false);
    }
    if (this.#isFlowEnd(frame, 'flow-mapping-end')) return this.#skipAndClose();
    frame.keyAlone = this.#scanner.peek().type !== 'key';
    if (frame.keyAlone) return this.#readNode(false, false);
    this.#scanner.skip();
    this.#readNodeUnless(isOneOf(this.#scanner.peek(), 'value', 'flow-entry', 'flow-mapping-end'), false, false);
  }

  #readNodeUnless(isEmpty: boolean, block: boolean, indentless: boolean): void {
    if (isEmpty) this.#addEmpty(this.#scanner.peek().line);
    else this.#readNode(block, indentless);
  }

  /** Reads a scalar or an alias, or opens a collection. */
  #readNode(block: boolean, indentless: boolean): void {
    const alias = this.#scanner.peek();
    if (alias.type === 'alias') {
      this.#scanner.skip();
      return this.#addAlias(alias.name, alias);
    }
    const { anchor, tag } = this.#readProperties();
    const token = this.#scanner.peek();
    if (token.type === 'scalar') {
      this.#scanner.skip();
      const plain = tag === undefined ? token.plain : tag === '!';
      return this.#addScalar({ text: token.text, tag, plain }, token.line, anchor);
    }
    if (indentless && token.type === 'block-entry') return this.#open('indentless-sequence', [], anchor);
    if (token.type === 'flow-sequence') return this.#skipAndOpen(token.type, [], anchor);
    if (token.type === 'flow-mapping') return this.#skipAndOpen(token.type, new Map(), anchor);
    if (block && token.type === 'block-sequence') return this.#skipAndOpen(token.type, [], anchor);
    if (block && token.type === 'block-mapping') return this.#skipAndOpen(token.type, new Map(), anchor);
    if (anchor === undefined && tag === undefined) fail('did not find expected node content', token);
    this.#addScalar({ text: '', tag, plain: tag === undefined }, token.line, anchor);
  }

  /** Reads an anchor and a tag, in either order. */
  #readProperties(): Properties {
    const properties: Properties = { anchor: undefined, tag: undefined };
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      if (token.type === 'anchor' && properties.anchor === undefined) properties.anchor = token.name;
      else if (token.type === 'tag' && properties.tag === undefined) properties.tag = this.#fullTag(token);
      else return properties;
      this.#scanner.skip();
    }
  }

  #fullTag(token: YamlToken & { type: 'tag' }): string {
    if (token.handle === '') return token.suffix;
    const prefix = this.#tagPrefixes.get(token.handle);
    return prefix === undefined ? fail('found undefined tag handle', token) : prefix + token.suffix;
  }

  #skipAndOpen(kind: FrameKind, collection: Frame<Scalar>['collection'], anchor: string | undefined): void {
    this.#scanner.skip();
    this.#open(kind, collection, anchor);
  }

  #open(kind: FrameKind, collection: Frame<Scalar>['collection'], anchor?: string): void {
    const { maxDepth } = this.#options;
    if (this.#frames.length >= maxDepth)
      throw new YamlTooLarge(`nests more than ${String(maxDepth)} levels: write it flatter`);
    this.#count();
    if (anchor !== undefined) this.#anchors.set(anchor, collection);
    this.#frames.push({ kind, collection, size: 1, first: true, key: undefined, keyAlone: false });
  }

  #skipAndClose(): void {
    this.#scanner.skip();
    this.#close();
  }

  #close(): void {
    const { collection, size } = this.#frames.pop()!;
    this.#sizes.set(collection, size);
    this.#add(collection, size);
  }

  #addEmpty(line: number): void {
    this.#addScalar({ text: '', tag: undefined, plain: true }, line, undefined);
  }

  #addScalar(source: ScalarSource, line: number, anchor: string | undefined): void {
    this.#count();
    const value = this.#options.scalar(source, line + 1);
    if (anchor !== undefined) this.#anchors.set(anchor, value);
    const merges = source.text === '<<' && (source.plain || source.tag === `${yamlTags}merge`);
    this.#add(value, 1, merges);
  }

  #addAlias(name: string, token: YamlToken): void {
    this.#count();
    const value = this.#anchors.get(name);
    if (value === undefined) return fail(`unknown anchor ${quoted(name)} referenced`, token);
    const isCollection = Array.isArray(value) || value instanceof Map;
    const size = isCollection ? this.#sizes.get(value) : 1;
    if (size === undefined) return fail(`anchor ${quoted(name)} value contains itself`, token);
    if (this.#frames.at(-1)?.key?.merges === true && !(value instanceof Map)) fail(mergeProblem, token);
    this.#add(value, size);
  }

  #add(value: YamlValue<Scalar>, size: number, merges = false): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = value;
      return;
    }
    this.#grow(frame, size);
    const { collection, key } = frame;
    if (Array.isArray(collection)) collection.push(value);
    else if (key === undefined) frame.key = { value, merges };
    else {
      frame.key = undefined;
      if (key.merges) this.#merge(collection, value);
      else {
        if (collection.has(key.value)) this.#options.onDuplicate?.(collection, key.value);
        collection.set(key.value, value);
      }
    }
  }

  #grow(frame: Frame<Scalar>, count: number): void {
    frame.size += count;
    if (frame.size > this.#options.maxExpandedValues)
      throw new YamlTooLarge('becomes too long when its aliases are written out: use fewer of them');
  }

  /** In a list of mappings, the first takes precedence. Merged values replace those written before. */
  #merge(into: Map<YamlValue<Scalar>, YamlValue<Scalar>>, value: YamlValue<Scalar>): void {
    for (const mapping of Array.isArray(value) ? value.toReversed() : [value]) {
      if (!(mapping instanceof Map)) {
        fail(mergeProblem, this.#scanner.peek());
      }
      this.#mergedCount += mapping.size;
      if (this.#mergedCount > this.#options.maxExpandedValues)
        throw new YamlTooLarge('becomes too long when its aliases are written out: use fewer of them');
      for (const [key, member] of mapping) into.set(key, member);
    }
  }

  #count(): void {
    if (++this.#valueCount > this.#options.maxValues)
      throw new YamlTooLarge(`has more than ${String(this.#options.maxValues)} values: shorten it`);
  }
}

function fail(problem: string, token: YamlToken): never {
  throw new YamlFault(problem, token.line + 1);
}
