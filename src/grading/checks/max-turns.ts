import { type Check, demand, explained } from '../check.ts';
import { demandConversation } from '../demand-conversation.ts';

/** `max-turns`: the conversation took at most so many turns. */
export const maxTurns: Check = (input) => {
  const { value, inverse } = input;
  const { total_turns: turns } = demandConversation(input);
  const most = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  demand(typeof most === 'number' && Number.isFinite(most), '"max-turns" needs a number as its value');
  return explained(turns <= most !== inverse, `The conversation took ${turns} turns (at most ${most} expected)`);
};
