// Counts how far the texts and names of the project are from docs/contributing.md: constructions and pronouns that readers stumble over,
// type names with several meanings, and identifiers that say nothing.
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

/** Identifiers that say neither what a value is nor what a function does. */
const emptyNames = new Set(
  'one what why most by said told named known given enough beside atOnce kept found asked wanted patience here there'.split(
    ' ',
  ),
);

export interface LanguageFigures {
  /** Constructions in a thousand words. */
  readonly commentConstructions: number;
  readonly messageConstructions: number;
  readonly documentConstructions: number;
  readonly pronouns: number;
  readonly ambiguousTypeNames: number;
  readonly emptyIdentifiers: number;
}

interface SourceTexts {
  comments: string[];
  /** Texts in the code that have the length of a sentence. */
  messages: string[];
  types: string[];
  emptyIdentifiers: number;
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

export function countLanguage(): LanguageFigures {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => file !== 'src/contract/wire.ts')
    .map((file) => textsOf(file));
  const documents = [...globSync('docs/**/*.md', { cwd: root }), 'README.md', 'SECURITY.md', 'src/README.md']
    // The glossary and the rules name the words that they replace.
    .filter((file) => !['docs/glossary.md', 'docs/contributing.md'].includes(file))
    .map((file) => withoutCode(read(file)));
  const comments = sources.flatMap((source) => source.comments);
  const messages = sources.flatMap((source) => source.messages);
  const definitions = new Map<string, number>();
  for (const name of sources.flatMap(({ types }) => [...new Set(types)]))
    definitions.set(name, (definitions.get(name) ?? 0) + 1);
  return {
    commentConstructions: rateOf(comments),
    messageConstructions: rateOf(messages),
    documentConstructions: rateOf(documents),
    pronouns: matchCount([...comments, ...messages, ...documents].join('\n'), [pronouns]),
    ambiguousTypeNames: [...definitions.values()].filter((count) => count > 1).length,
    emptyIdentifiers: sources.reduce((sum, source) => sum + source.emptyIdentifiers, 0),
  };
}

function textsOf(file: string): SourceTexts {
  const text = read(file);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const found: SourceTexts = { comments: [], messages: [], types: [], emptyIdentifiers: 0 };
  const seen = new Set<number>();
  const addComments = (at: number): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, at) ?? []) {
      if (!seen.has(pos)) found.comments.push(text.slice(pos, end));
      seen.add(pos);
    }
  };
  const visit = (node: ts.Node): void => {
    addComments(node.pos);
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (wordCount(node.text) >= 4) found.messages.push(node.text);
    }
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node)) {
      if (node.name) found.types.push(node.name.text);
    }
    if ((ts.isVariableDeclaration(node) || ts.isParameter(node)) && ts.isIdentifier(node.name)) {
      if (emptyNames.has(node.name.text)) found.emptyIdentifiers += 1;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  addComments(source.endOfFileToken.pos);
  return found;
}
