import { isObject } from '../../domain/json.ts';
import { type Check, type CheckInput, CheckProblem, verdict } from '../check.ts';
import { findXml, type XmlPiece } from '../find-xml.ts';

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

/** What is wrong with a text as one XML document; undefined when nothing is. */
async function documentProblem(xml: string): Promise<string | undefined> {
  const { XMLValidator } = await import('fast-xml-parser');
  const checked = XMLValidator.validate(xml, { allowBooleanAttributes: false });
  if (checked !== true) return `Not well-formed XML: ${checked.err.msg} (line ${checked.err.line})`;
  if (xml.indexOf('<?xml ', 1) > 0) return 'Not well-formed XML: the declaration must stand first';
  const [root, ...others] = findXml(xml);
  if (root === undefined || others.length > 0) return 'Not well-formed XML: there must be one root';
  const around = xml.slice(0, root.start) + xml.slice(root.end);
  if (/<!DOCTYPE[^>]*\[/.test(around)) return 'A document type with declarations of its own is not accepted';
  const rest = around.replace(/<!--(?:[^-]|-(?!->))*-->|<\?(?:[^?]|\?(?!>))*\?>|<!DOCTYPE[^>]*>/g, '');
  return rest.trim() === '' ? undefined : 'Not well-formed XML: there is something around the root';
}

type Reading = { readonly kind: 'fits' } | { readonly kind: 'lacks' | 'not-xml'; readonly problem: string };

/** Reads a piece leniently and looks for the elements. */
async function readPiece(xml: string, required: readonly string[]): Promise<Reading> {
  const { XMLParser } = await import('fast-xml-parser');
  try {
    const parser = new XMLParser({ allowBooleanAttributes: true, ignoreAttributes: false, processEntities: false });
    const tree: unknown = parser.parse(xml);
    const missing = required.filter((path) => !hasPath(tree, path));
    return missing.length === 0 ? { kind: 'fits' } : { kind: 'lacks', problem: `The XML lacks: ${missing.join(', ')}` };
  } catch (error) {
    return { kind: 'not-xml', problem: `Not XML: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** `is-xml`: the whole output is well-formed XML and has the required elements. */
export const isXml: Check = async (input) => {
  const required = requiredOf(input);
  const broken = await documentProblem(input.text);
  const reading: Reading =
    broken === undefined ? await readPiece(input.text, required) : { kind: 'not-xml', problem: broken };
  const isFit = reading.kind === 'fits';
  return verdict(isFit !== input.inverse, isFit ? 'Expected output not to be XML' : reading.problem);
};

/** `contains-xml`: somewhere in the output stands XML with the required elements. */
export const containsXml: Check = async (input) => {
  const required = requiredOf(input);
  const looked: XmlPiece[] = [];
  let problem: string | undefined = 'There is no XML in the output';
  for (const piece of findXml(input.text)) {
    // What was read as a whole and found lacking is not read again in parts.
    if (looked.some(({ start, end }) => piece.start >= start && piece.end <= end)) continue;
    const reading = await readPiece(piece.text, required);
    problem = reading.kind === 'fits' ? undefined : reading.problem;
    if (problem === undefined) break;
    if (reading.kind === 'lacks') looked.push(piece);
  }
  return verdict((problem === undefined) !== input.inverse, problem ?? 'Expected output not to contain XML');
};
