// Finds the type of a scalar as go-yaml v2 does (YAML 1.1): `yes` is a boolean, `0644` an octal
// number.
import { YamlFault } from './cursor.ts';
import type { ScalarSource } from './tree.ts';

export type ScalarType = 'null' | 'bool' | 'int' | 'float' | 'text';

const words: Record<string, ScalarType> = {};
const addWords = (type: ScalarType, ...texts: string[]) => {
  for (const text of texts) words[text] = type;
};
addWords('null', '', '~', 'null', 'Null', 'NULL');
addWords('bool', 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON');
addWords('bool', 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF');
addWords('float', '.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF', '-.inf', '-.Inf', '-.INF');

const integer = /^[+-]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** A longer number does not fit 64 bits. */
const longestInteger = 70;

function isInteger(text: string): boolean {
  if (text.length > longestInteger || !integer.test(text)) return false;
  const digits = text.replace(/^[+-]/, '').replace(/^0(?=[0-7])/, '0o');
  const value = BigInt(digits);
  return text.startsWith('-') ? value <= 2n ** 63n : value < (text.startsWith('+') ? 2n ** 63n : 2n ** 64n);
}

function typeOf(text: string): ScalarType {
  if (Object.hasOwn(words, text)) return words[text]!;
  if (!/^[-+.0-9]/.test(text)) return 'text';
  if (text.startsWith('.')) return float.test(text) && Number.isFinite(Number(text)) ? 'float' : 'text';
  const plain = text.replaceAll('_', '');
  if (isInteger(plain)) return 'int';
  return float.test(plain) && Number.isFinite(Number(plain)) ? 'float' : 'text';
}

const standard = 'tag:yaml.org,2002:';
/** The tags that name a type; the text must have that type. */
const tagTypes: Record<string, ScalarType> = {
  [`${standard}bool`]: 'bool',
  [`${standard}int`]: 'int',
  [`${standard}float`]: 'float',
  [`${standard}null`]: 'null',
};

/** The type of a scalar, by its text, its tag and its quotes. Throws `YamlFault` for a text that its tag does not allow. */
export function resolveScalar({ text, tag, plain }: ScalarSource, line: number): { text: string; type: ScalarType } {
  if (tag === undefined) return { text, type: plain ? typeOf(text) : 'text' };
  if (tag === `${standard}binary`) return { text: decodeBinary(text, line), type: 'text' };
  const expectedType = tagTypes[tag];
  if (expectedType === undefined) return { text, type: 'text' };
  const type = typeOf(text);
  if (type === expectedType || (expectedType === 'float' && type === 'int')) return { text, type: expectedType };
  throw new YamlFault(`a value tagged !!${expectedType} is none`, line);
}

function decodeBinary(text: string, line: number): string {
  const digits = text.replace(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(digits))
    throw new YamlFault('a value tagged !!binary is no base64', line);
  return Buffer.from(digits, 'base64').toString();
}
