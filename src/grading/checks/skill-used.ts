import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { type Check, type CheckInput, demand, explained } from '../check.ts';
import { matchesGlob } from '../glob.ts';

/** Names of the skills an agent says it used, failed ones left out. */
function usedSkills({ subject }: CheckInput): string[] {
  const calls = subject.reply?.metadata?.['skillCalls'];
  if (!Array.isArray(calls)) return [];
  return calls
    .filter((call) => isObject(call) && typeof call['name'] === 'string' && call['is_error'] !== true)
    .map((call) => String((call as JsonObject)['name']));
}

const isName = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== '';
const isCount = (value: Json | undefined): value is number => Number.isInteger(value) && Number(value) >= 0;

function checkList(names: readonly string[], used: readonly string[], inverse: boolean): ReturnType<typeof explained> {
  const seen = names.filter((name) => used.includes(name));
  const pass = inverse ? seen.length === 0 : seen.length === names.length;
  return explained(
    pass,
    `${inverse ? 'Forbidden' : 'Expected'} skills: ${names.join(', ')}; used: ${used.join(', ') || 'none'}`,
  );
}

function checkCount(value: JsonObject, used: readonly string[], inverse: boolean): ReturnType<typeof explained> {
  const { name, pattern, min, max } = value;
  demand(isName(name) || isName(pattern), '"skill-used" needs a name or a pattern');
  demand(min === undefined || isCount(min), '"skill-used": min must be a whole number from 0');
  demand(max === undefined || isCount(max), '"skill-used": max must be a whole number from 0');
  demand(min === undefined || max === undefined || min <= max, '"skill-used": max must not be below min');
  const counted = used.filter(
    (skill) => (!isName(name) || skill === name.trim()) && (!isName(pattern) || matchesGlob(skill, pattern.trim())),
  ).length;
  const label = isName(pattern) ? pattern : name;
  if (inverse) {
    demand(min === undefined && (max === undefined || max === 0), '"not-skill-used" takes no counts');
    return explained(counted === 0, `Forbidden skill ${label} was used ${counted} times`);
  }
  const least = min ?? (max === undefined ? 1 : 0);
  const most = max ?? Number.POSITIVE_INFINITY;
  return explained(
    counted >= least && counted <= most,
    `Skill ${label} was used ${counted} times, expected ${max === undefined ? `at least ${least}` : `${least} to ${max}`}`,
  );
}

/** `skill-used`: which skills an agent reports to have used. */
export const skillUsed: Check = (input) => {
  const { value, inverse } = input;
  const used = usedSkills(input);
  if (isObject(value)) return checkCount(value, used, inverse);
  const names = typeof value === 'string' ? [value] : value;
  demand(
    Array.isArray(names) && names.length > 0 && names.every(isName),
    '"skill-used" needs a skill name, a list of them, or {name, pattern, min, max}',
  );
  return checkList(
    names.map((name) => name.trim()),
    used,
    inverse,
  );
};
