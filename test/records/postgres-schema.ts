// The tables of a new store for PostgreSQL, translated from those for SQLite, so that their common part is written
// once.

/** Translates src/records/new-store.sql. It throws at a statement that it cannot read, so that nothing is lost. */
export function postgresSchema(sqlite: string): string {
  const statements = split(sqlite);
  const of = (kind: RegExp): string[] => statements.filter((text) => kind.test(text));
  const tables = of(/^CREATE TABLE/)
    .filter((text) => !engineOwn.test(text))
    .map(table);
  const rest = [
    ...of(/^CREATE (?:UNIQUE )?INDEX/).map(common),
    ...of(/^CREATE VIEW/).map(common),
    ...of(/^INSERT INTO/).map(row),
    ...of(/^CREATE TRIGGER/).map(trigger),
  ];
  const translatable = /^CREATE (?:TABLE|(?:UNIQUE )?INDEX|VIEW|TRIGGER)|^INSERT INTO/;
  const strange = statements.find((text) => !translatable.test(text));
  if (strange !== undefined) throw new Error(`cannot translate ${strange}`);
  return [
    '-- The tables of a new store as PostgreSQL reads them; made of new-store.sql, and never edited.',
    '-- `LARDER_KEEP=1 npm test -- test/records/new-store.test.ts` makes it anew.',
    nextNumber,
    ...tables.map(({ text }) => text),
    ...tables.flatMap(({ references }) => references),
    ...rest,
    '',
  ].join('\n');
}

/** The number of a row that is given none: one more than the highest, as SQLite counts. One process writes at a time. */
const nextNumber = `CREATE FUNCTION next_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE number BIGINT;
BEGIN
  EXECUTE format('SELECT coalesce(max(%I), 0) + 1 FROM %I.%I', TG_ARGV[0], TG_TABLE_SCHEMA, TG_TABLE_NAME) INTO number;
  NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], number));
  RETURN NEW;
END $$;`;

/** Digests of rows are SQLite's own: PostgreSQL has checksums of its pages. */
const engineOwn = /^CREATE TABLE row_digest/;

/** The statements of a text, without comments; a trigger ends at its `END`. */
function split(text: string): string[] {
  const statements: string[] = [];
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (lines.length === 0 && (line === '' || line.startsWith('--'))) continue;
    lines.push(line);
    const isTrigger = lines[0]!.startsWith('CREATE TRIGGER');
    if (isTrigger ? /\bEND;$/.test(line) : line.endsWith(';')) {
      statements.push(lines.join('\n'));
      lines = [];
    }
  }
  if (lines.length > 0) throw new Error(`cannot find the end of ${lines[0]!}`);
  return statements;
}

/**
 * A table, and its references to others, which are made when all tables are there. Texts are ordered by their bytes as in SQLite;
 * and a number that SQLite gives a row itself is given by a trigger, the same one.
 */
function table(text: string): { text: string; references: string[] } {
  const [, name = ''] = /^CREATE TABLE "?(\w+)"? \(/.exec(text) ?? [];
  const references: string[] = [];
  const whole = withoutComments(text)
    .replace(/\)[A-Z ,]*;$/, ');')
    .replaceAll(/"(\w+)"/g, '$1')
    .replaceAll(/\bINTEGER PRIMARY KEY\b/g, () => {
      const [, column = ''] = /^\s*(\w+)\s+INTEGER PRIMARY KEY/m.exec(text) ?? [];
      references.push(
        `CREATE TRIGGER a_number_${name} BEFORE INSERT ON ${name} FOR EACH ROW WHEN (NEW.${column} IS NULL) ` +
          `EXECUTE FUNCTION next_number('${column}');`,
      );
      return 'BIGINT NOT NULL PRIMARY KEY';
    })
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bREAL\b/g, 'DOUBLE PRECISION')
    .replaceAll(/\bBLOB\b/g, 'BYTEA')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(
      /^(\s*)(,? ?)(\w+)([^\n]*?) (REFERENCES \w+ \(\w+\)(?: ON (?:UPDATE|DELETE) CASCADE)*)/gm,
      (_, blank: string, comma: string, column: string, type: string, reference: string) => {
        references.push(`ALTER TABLE ${name} ADD FOREIGN KEY (${column}) ${reference};`);
        return `${blank}${comma}${column}${type}`;
      },
    )
    .replaceAll(
      /,\s*(FOREIGN KEY \([\w, ]+\) REFERENCES \w+ \([\w, ]+\)(?:\s+ON (?:UPDATE|DELETE) CASCADE)*)/g,
      (_, reference: string) => {
        references.push(`ALTER TABLE ${name} ADD ${reference.replaceAll(/\s+/g, ' ')};`);
        return '';
      },
    );
  return { text: whole, references };
}

const withoutComments = (text: string): string => text.replaceAll(/^\s*--.*\n/gm, '');

const common = (text: string): string => text;

const row = (text: string): string =>
  text.replace('lower(hex(randomblob(16)))', `replace(gen_random_uuid()::text, '-', '')`);

/** A trigger: its event, and a function with its body. */
function trigger(text: string): string {
  const [, name, when, , event, on, condition, body] =
    /^CREATE TRIGGER (\w+) ((BEFORE|AFTER|INSTEAD OF) (INSERT|DELETE|UPDATE(?: OF [\w, ]+)?)) ON (\w+)\s+(?:WHEN ([^]+?)\s+)?BEGIN\s+([^]+?)\s*END;$/.exec(
      text,
    ) ?? [];
  if (name === undefined) throw new Error(`cannot translate ${text}`);
  const does = inFunction(body!);
  const returned = event === 'DELETE' ? 'OLD' : 'NEW';
  const whole = condition === undefined ? does : `IF ${inFunction(condition)} THEN ${does} END IF;`;
  return (
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${whole} RETURN ${returned}; END $$;\n` +
    `CREATE TRIGGER ${name} ${when!} ON ${on!} FOR EACH ROW EXECUTE FUNCTION ${name}();`
  );
}

const inFunction = (text: string): string =>
  text
    .replaceAll(/SELECT RAISE\(ABORT, ('[^']*')\)/g, 'RAISE EXCEPTION $1')
    .replaceAll(/(ON CONFLICT \(noun\) DO UPDATE SET [^;]* WHERE )noun\b/g, '$1noun_versions.noun')
    .replaceAll(/(NEW\.\w+) IS NOT \(/g, '$1 IS DISTINCT FROM (')
    .replaceAll(/([-+]) \(((?:NEW|OLD)\.\w+ IS NULL)\)/g, '$1 ($2)::int');
