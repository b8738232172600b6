// Counts how far the texts and names of the project are from docs/contributing.md: constructions and pronouns that readers stumble over,
// and type names with several meanings. Identifiers that say nothing are eslint's.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';

import { root } from '../runner/lanes.ts';

/** Constructions that the language rules replace. */
const constructions: readonly RegExp[] = [
  /\bwhat (?:is|was|were|are|has|have|had|it|they|he|she|one|somebody|came|comes|lies|stands)\b/gi,
  /\b(?:whoever|whomever|whatever|whom|whose)\b/gi,
  /\b(?:nobody|somebody|everybody|anybody)\b/gi,
  /\b(?:nothing|none|refused|left out|empty) where\b/gi,
  /\b(?:of|with|by|in|to|from|on|at) (?:which|whom)\b/gi,
  /\b(?:that which|those that|those who|he who|one that|one who)\b/gi,
  /\b(?:anew|meanwhile|once more|no more|at hand|besides)\b/gi,
];
const pronouns = /\b(?:he|him|his|himself|she|her|hers|herself)\b/gi;

export interface LanguageFigures {
  /** Constructions in a thousand words. */
  readonly commentConstructions: number;
  readonly messageConstructions: number;
  readonly documentConstructions: number;
  readonly schemaConstructions: number;
  readonly pronouns: number;
  readonly ambiguousTypeNames: number;
  /** In the comments of test/, packaging/ and .ci/. */
  readonly testCommentConstructions: number;
  /** In the names of tests. */
  readonly testTitleConstructions: number;
  readonly testPronouns: number;
}

interface SourceTexts {
  comments: string[];
  /** The names of tests. */
  titles: string[];
  /** Texts in the code that have the length of a sentence. */
  messages: string[];
  types: string[];
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const wordCount = (text: string): number => text.match(/[A-Za-z][A-Za-z']*/g)?.length ?? 0;
const matchCount = (text: string, patterns: readonly RegExp[]): number =>
  patterns.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);

/** Constructions in a thousand words, with one digit. */
function rateOf(texts: readonly string[]): number {
  const text = texts.join('\n');
  return Math.round((10_000 * matchCount(text, constructions)) / Math.max(1, wordCount(text))) / 10;
}

/** Words in code style are names, not language. */
const withoutCode = (markdown: string): string => markdown.replace(/```[^]*?```|`[^`\n]*`/g, '');

/** The titles and descriptions of the shapes. */
function schemaTexts(): string[] {
  const texts: string[] = [];
  for (const file of globSync('schemas/*.json', { cwd: root }))
    JSON.parse(read(file), (key, value: unknown) => {
      if (/^(?:title|description)$/.test(key) && typeof value === 'string') texts.push(value);
      return value;
    });
  return texts;
}

export function countLanguage(): LanguageFigures {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !/^src\/contract\/(?:wire|config-validator)\.ts$/.test(file))
    .map((file) => textsOf(file));
  const documents = [
    ...globSync('docs/**/*.md', { cwd: root }),
    'README.md',
    'SECURITY.md',
    'src/README.md',
    'packaging/README.md',
  ]
    // The glossary and the rules name the words that they replace.
    .filter((file) => !['docs/glossary.md', 'docs/contributing.md'].includes(file))
    .map((file) => withoutCode(read(file)));
  const comments = sources.flatMap((source) => source.comments);
  const messages = sources.flatMap((source) => source.messages);
  const schemas = schemaTexts();
  const tests = globSync('{test,packaging}/**/*.{ts,mjs}', { cwd: root }).map((file) => textsOf(file));
  const scripts = ['.ci/run', '.ci/bare'].flatMap((file) => read(file).match(/(?<=^ *# ).*/gm) ?? []);
  const testComments = [...tests.flatMap((test) => test.comments), ...scripts];
  const testTitles = tests.flatMap((test) => test.titles);
  const definitions = new Map<string, number>();
  for (const name of sources.flatMap(({ types }) => [...new Set(types)]))
    definitions.set(name, (definitions.get(name) ?? 0) + 1);
  return {
    commentConstructions: rateOf(comments),
    messageConstructions: rateOf(messages),
    documentConstructions: rateOf(documents),
    schemaConstructions: rateOf(schemas),
    pronouns: matchCount([...comments, ...messages, ...documents, ...schemas].join('\n'), [pronouns]),
    ambiguousTypeNames: [...definitions.values()].filter((count) => count > 1).length,
    testCommentConstructions: rateOf(testComments),
    testTitleConstructions: rateOf(testTitles),
    testPronouns: matchCount([...testComments, ...testTitles].join('\n'), [pronouns]),
  };
}

function textsOf(file: string): SourceTexts {
  const text = read(file);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const texts: SourceTexts = { comments: [], titles: [], messages: [], types: [] };
  const seen = new Set<number>();
  const addComments = (at: number): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, at) ?? []) {
      if (!seen.has(pos)) texts.comments.push(text.slice(pos, end));
      seen.add(pos);
    }
  };
  const visit = (node: ts.Node): void => {
    addComments(node.pos);
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (wordCount(node.text) >= 4) texts.messages.push(node.text);
    }
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node)) {
      if (node.name) texts.types.push(node.name.text);
    }
    if (ts.isCallExpression(node)) texts.titles.push(...titleOf(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  addComments(source.endOfFileToken.pos);
  return texts;
}

/** The fixed texts of the name of a test, if the call makes one. */
function titleOf({ expression, arguments: [name] }: ts.CallExpression): string[] {
  const method = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  if (!ts.isIdentifier(method) || !/^(?:test|\w+Test)$/.test(method.text) || name === undefined) return [];
  if (ts.isStringLiteralLike(name)) return [name.text];
  return ts.isTemplateExpression(name)
    ? [name.head.text, ...name.templateSpans.map(({ literal }) => literal.text)]
    : [];
}
