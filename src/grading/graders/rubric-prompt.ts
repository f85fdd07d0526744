import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { type CheckInput, CheckProblem } from '../check.ts';
import { codeInFile, fileReference } from '../user-code.ts';
import type { Question } from './grader.ts';

/** What filling in a prompt needs. */
export type PromptSurroundings = Pick<CheckInput, 'ports' | 'baseDir' | 'effects'>;

async function loadPrompt(prompt: Json, input: PromptSurroundings): Promise<string> {
  if (typeof prompt !== 'string') return JSON.stringify(prompt);
  if (!prompt.startsWith('file://')) return prompt;
  const { ports, baseDir, effects } = input;
  const file = fileReference(await ports.render(prompt, {}), baseDir);
  const { language } = file;
  if (language === undefined) {
    const text = await ports.files.read(file.path);
    if (text === undefined) throw new CheckProblem(`There is no file ${file.path}`);
    return text;
  }
  const outcome = await ports.code.run(
    { code: codeInFile({ ...file, language }, 'get_prompt'), args: [] },
    { signal: effects.signal },
  );
  if (outcome.kind !== 'returned') throw new CheckProblem(`The rubric prompt ${prompt} failed: ${outcome.message}`);
  return typeof outcome.value === 'string' ? outcome.value : JSON.stringify(outcome.value);
}

/** Lists and objects stand in a prompt as JSON. */
function printable(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => (isObject(item) ? JSON.stringify(item) : item));
  return isObject(value) ? JSON.stringify(value) : value;
}

/** Fills every text of a JSON prompt, or the whole text; values are put in as they are and never read as templates. */
async function fill(prompt: string, values: JsonObject, render: CheckInput['ports']['render']): Promise<string> {
  const printed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, printable(value)]));
  let parsed: unknown;
  try {
    parsed = JSON.parse(prompt);
  } catch {
    return render(prompt, printed);
  }
  const walk = async (part: Json): Promise<Json> => {
    if (typeof part === 'string') return render(part, printed);
    if (Array.isArray(part)) return Promise.all(part.map(walk));
    if (!isObject(part)) return part;
    const entries = Object.entries(part).map(async ([key, item]) => [key, await walk(item)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  return JSON.stringify(await walk(parsed as Json));
}

/** Which of several prompts a check means: the only one, an item of a list, or an entry of a map. */
export function pickPrompt(
  prompt: Json | undefined,
  slot?: { readonly at: number; readonly name: string },
): Json | undefined {
  if (slot === undefined || prompt === undefined) return prompt;
  if (Array.isArray(prompt)) {
    const item = prompt[slot.at] as Json | undefined;
    return isObject(item) && typeof item['content'] === 'string' ? item['content'] : item;
  }
  return isObject(prompt) ? prompt[slot.name] : undefined;
}

/** The question to ask: the config author's prompt filled in, or ours. */
export async function questionFor(
  prompt: Json | undefined,
  values: JsonObject,
  ours: Question,
  input: PromptSurroundings,
): Promise<Question> {
  const isEmpty =
    prompt === undefined ||
    prompt === null ||
    prompt === '' ||
    (typeof prompt === 'object' && Object.keys(prompt).length === 0);
  if (isEmpty) return ours;
  const text = await loadPrompt(prompt, input);
  try {
    return { prompt: await fill(text, values, input.ports.render) };
  } catch (error) {
    throw new CheckProblem(
      `The rubric prompt cannot be filled in: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
