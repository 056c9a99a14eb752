/** A record of a CSV file. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  line: number;
  fields: string[];
}

/**
 * Parses CSV as in RFC 4180: commas, quotes around fields with commas, quotes or line breaks, quotes in them doubled. Lines
 * may end with LF alone; empty lines and a byte order mark are skipped.
 * @throws Error with the line, for a quote where none may be, or one that is missing. Nothing of the content is in it.
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  // A field, quoted or not, and what ends it.
  const field = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  let line = 1;
  let record: CsvRecord = { line, fields: [] };
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  for (let end = ''; field.lastIndex < text.length || end === ',';) {
    const match = field.exec(text);
    if (!match) throw new Error(`Line ${line} is no CSV: a quote is missing, or a quote or CR is where none may be.`);
    const [all, quoted, plain = '', ending = ''] = match;
    record.fields.push(quoted?.replaceAll('""', '"') ?? plain);
    line += all.split('\n').length - 1;
    end = ending;
    if (ending === ',') continue;
    if (record.fields.length > 1 || quoted !== undefined || plain !== '') records.push(record);
    record = { line, fields: [] };
    // The pattern also matches nothing at the end of the text.
    if (ending === '') break;
  }
  return records;
}
