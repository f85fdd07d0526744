import { type Check, demand, explained } from '../check.ts';

/** `moderation`: a moderation model finds nothing in the output, or nothing in the listed categories. */
export const moderation: Check = async ({ value, text, inverse, grader, subject }) => {
  const categories = value === undefined || value === null || value === '' ? [] : value;
  const usable = Array.isArray(categories) && categories.every((item) => typeof item === 'string');
  demand(usable, '"moderation" needs a list of categories as its value, or none');
  if (text === '') return explained(!inverse, 'There is no output to look at');
  const found = await grader.moderate(text, subject.prompt);
  const relevant = found.categories.filter((category) => categories.length === 0 || categories.includes(category));
  const isFlagged = found.flagged && (categories.length === 0 || relevant.length > 0);
  return explained(
    isFlagged === inverse,
    isFlagged ? `Flagged: ${relevant.join(', ') || 'no category told'}` : 'Nothing was flagged',
  );
};
