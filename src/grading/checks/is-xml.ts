import { type Check, type CheckInput, CheckProblem, isObject, verdict } from '../check.ts';
import { findXml } from '../find-xml.ts';

/** The elements that must be there, as dotted paths. */
function requiredOf({ type, value }: CheckInput): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value === 'string') return value.split(',').map((path) => path.trim());
  if (Array.isArray(value)) return value.map(String);
  if (isObject(value) && Array.isArray(value['requiredElements'])) return value['requiredElements'].map(String);
  if (isObject(value) && Object.keys(value).length === 0) return [];
  throw new CheckProblem(`"${type}" needs element names (text with commas, a list, or requiredElements), or no value`);
}

function hasPath(tree: unknown, path: string): boolean {
  let at = tree;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<string, unknown>)[key];
    if (at === undefined) return false;
  }
  return true;
}

/** What is wrong with a piece of XML; undefined when nothing is. */
async function problemOf(xml: string, required: readonly string[], strict: boolean): Promise<string | undefined> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  if (strict) {
    const checked = XMLValidator.validate(xml, { allowBooleanAttributes: false });
    if (checked !== true) return `Not well-formed XML: ${checked.err.msg} (line ${checked.err.line})`;
    if (findXml(xml).length > 1) return 'Not well-formed XML: there are several roots';
    if (/<!DOCTYPE[^>]*\[/.test(xml)) return 'A document type with declarations of its own is not accepted';
  }
  try {
    const parser = new XMLParser({ allowBooleanAttributes: true, ignoreAttributes: false, processEntities: false });
    const tree: unknown = parser.parse(xml);
    const missing = required.filter((path) => !hasPath(tree, path));
    return missing.length === 0 ? undefined : `The XML lacks: ${missing.join(', ')}`;
  } catch (error) {
    return `Not XML: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** `is-xml`: the whole output is well-formed XML and has the required elements. */
export const isXml: Check = async (input) => {
  const problem = await problemOf(input.text, requiredOf(input), true);
  return verdict((problem === undefined) !== input.inverse, problem ?? 'Expected output not to be XML');
};

/** `contains-xml`: somewhere in the output stands XML with the required elements. */
export const containsXml: Check = async (input) => {
  const required = requiredOf(input);
  const pieces = findXml(input.text);
  let problem: string | undefined = 'There is no XML in the output';
  for (const piece of pieces) {
    problem = await problemOf(piece, required, false);
    if (problem === undefined) break;
  }
  return verdict((problem === undefined) !== input.inverse, problem ?? 'Expected output not to contain XML');
};
